import SwitchboardText

// Strings are the same if their bytes are, as for other implementations: Swift's own comparison also takes long for some.
extension MessageStorage: Hashable {
  public static func == (left: MessageStorage, right: MessageStorage) -> Bool {
    if left.object === right.object { return true }
    let table = left.table
    guard table == right.table else { return false }
    return table.entries.allSatisfy { left.agrees(with: right, in: $0, of: table) }
      && left.unknownFields == right.unknownFields && left.extensionFields == right.extensionFields
  }

  public func hash(into hasher: inout Hasher) {
    var fields = FieldHasher(hasher: hasher)
    try? traverse(&fields)  // the hasher never throws
    hasher = fields.hasher
  }

  private func agrees(with other: MessageStorage, in entry: TableEntry, of table: TableData) -> Bool {
    guard isSet(entry) || other.isSet(entry) else { return true }
    if entry.shape == .map {
      let key = entry.keyType.mapKey(checksUTF8: true)
      if entry.type.isMessage { return agrees(with: other, in: entry, key: key, values: MessageStorage.self) }
      if let type = table.enumType(of: entry) {
        return agrees(with: other, in: entry, key: key, scalar: type)
      }
      if entry.type == .enumeration { return agrees(with: other, in: entry, key: key, values: Int32.self) }
      return agrees(with: other, in: entry, key: key, scalar: entry.type.scalar(checksUTF8: true))
    }
    if entry.shape == .singular, entry.presence != .implicit || entry.type.isMessage,
      isSet(entry) != other.isSet(entry)
    {
      return false
    }
    if entry.shape == .oneof, isSet(entry) != other.isSet(entry) { return false }
    if entry.type.isMessage {
      return entry.shape == .repeated
        ? agreesInMany(with: other, in: entry, as: [MessageStorage].self, empty: [])
        : message(entry) == other.message(entry)
    }
    if entry.shape == .repeated, let type = table.enumType(of: entry) {
      return agrees(with: other, in: entry, scalar: type)
    }
    if entry.type == .enumeration { return agrees(with: other, in: entry, scalar: ProtoInt32.self) }
    if entry.type == .string { return agrees(with: other, in: entry, scalar: ProtoString.self) }
    return agrees(with: other, in: entry, scalar: entry.type.scalar(checksUTF8: true))
  }

  private func agrees<S: ScalarType>(with other: MessageStorage, in entry: TableEntry, scalar: S.Type) -> Bool
  {
    if entry.shape == .repeated { return agreesInMany(with: other, in: entry, as: [S.Value].self, empty: []) }
    let left = self.scalar(entry, as: S.Value.self) ?? S.protoDefault
    return areSame(left, other.scalar(entry, as: S.Value.self) ?? S.protoDefault)
  }

  private func agrees<K: MapKeyType, V: ScalarType>(
    with other: MessageStorage,
    in entry: TableEntry,
    key: K.Type,
    scalar: V.Type
  ) -> Bool {
    agrees(with: other, in: entry, key: key, values: V.Value.self)
  }

  private func agrees<K: MapKeyType, Value: Equatable>(
    with other: MessageStorage,
    in entry: TableEntry,
    key: K.Type,
    values: Value.Type
  ) -> Bool {
    let left = many(entry, as: [K.Value: Value].self) ?? [:]
    let right = other.many(entry, as: [K.Value: Value].self) ?? [:]
    return left.count == right.count
      && left.allSatisfy { key, value in
        guard let index = right.index(forKey: key) else { return false }
        return areSame(key, right.keys[index]) && areSame(value, right.values[index])
      }
  }

  private func agreesInMany<Collection: Equatable>(
    with other: MessageStorage,
    in entry: TableEntry,
    as type: Collection.Type,
    empty: Collection
  ) -> Bool {
    areSame(many(entry, as: type) ?? empty, other.many(entry, as: type) ?? empty)
  }
}

/// Whether two values of a field or an extension are the same.
func areSame<Value: Equatable>(_ left: Value, _ right: Value) -> Bool {
  if Value.self == String.self, let left = left as? String, let right = right as? String {
    return left.isExactly(right)
  }
  if Value.self == [String].self, let left = left as? [String], let right = right as? [String] {
    return left.count == right.count && zip(left, right).allSatisfy { $0.isExactly($1) }
  }
  return left == right
}

/// Hashes the fields that it visits. Fields with presence are hashed with their numbers, because one that is not set
/// contributes nothing.
struct FieldHasher: UnframedVisitor {
  static var isSpecialized: Bool { true }

  var hasher: Hasher

  mutating func implicit<S: ScalarType>(_ value: S.Value, as type: S.Type, number: Int32) {
    combine(value)
  }

  mutating func explicit<S: ScalarType>(_ value: S.Value?, as type: S.Type, number: Int32) {
    if let value { hash(value, number) }
  }

  mutating func repeated<S: ScalarType>(_ values: [S.Value], as type: S.Type, number: Int32) {
    combine(values)
  }

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) {
    combine(entries: entries)
  }

  mutating func messageMap<K: MapKeyType>(
    _ entries: [K.Value: MessageStorage],
    key: K.Type,
    number: Int32
  ) {
    combine(entries: entries)
  }

  mutating func message(_ value: MessageStorage?, number: Int32) {
    if let value { hash(value, number) }
  }

  mutating func messages(_ values: [MessageStorage], number: Int32) { hasher.combine(values) }

  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError) {
    try fields.forEach(in: range) { entry throws(EncodeError) in entry.hash(into: &hasher) }
  }

  mutating func messageSet(_ fields: ExtensionFields) { hasher.combine(fields) }

  mutating func unknown(_ fields: UnknownFields) { hasher.combine(fields) }

  private mutating func hash(_ value: some Hashable, _ number: Int32) {
    hasher.combine(number)
    combine(value)
  }

  /// Combines a value of a field or an extension, such that values for which ``areSame(_:_:)`` holds hash alike.
  mutating func combine<Value: Hashable>(_ value: Value) {
    if Value.self == String.self, let text = value as? String {
      hasher.combine(ExactText(text))
    } else if Value.self == [String].self, let texts = value as? [String] {
      hasher.combine(texts.count)
      for text in texts { hasher.combine(ExactText(text)) }
    } else {
      hasher.combine(value)
    }
  }

  /// Combines the entries of a map, which have no order.
  private mutating func combine<Key: Hashable, Value: Hashable>(entries: [Key: Value]) {
    var sum = 0
    for (key, value) in entries {
      var entry = self
      entry.combine(key)
      entry.combine(value)
      sum ^= entry.hasher.finalize()
    }
    hasher.combine(sum)
  }
}
