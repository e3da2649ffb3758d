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
    return agrees(with: other, in: entry, scalar: entry.type.scalar(checksUTF8: true))
  }

  private func agrees<S: ScalarType>(with other: MessageStorage, in entry: TableEntry, scalar: S.Type) -> Bool
  {
    if entry.shape == .repeated { return agreesInMany(with: other, in: entry, as: [S.Value].self, empty: []) }
    let left = self.scalar(entry, as: S.Value.self) ?? S.protoDefault
    return left == other.scalar(entry, as: S.Value.self) ?? S.protoDefault
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
    agreesInMany(with: other, in: entry, as: [K.Value: Value].self, empty: [:])
  }

  private func agreesInMany<Collection: Equatable>(
    with other: MessageStorage,
    in entry: TableEntry,
    as type: Collection.Type,
    empty: Collection
  ) -> Bool {
    (many(entry, as: type) ?? empty) == (other.many(entry, as: type) ?? empty)
  }
}

/// Hashes the fields that it visits. Fields with presence are hashed with their numbers, because one that is not set
/// contributes nothing.
private struct FieldHasher: UnframedVisitor {
  static var isSpecialized: Bool { true }

  var hasher: Hasher

  mutating func implicit<S: ScalarType>(_ value: S.Value, as type: S.Type, number: Int32) {
    hasher.combine(value)
  }

  mutating func explicit<S: ScalarType>(_ value: S.Value?, as type: S.Type, number: Int32) {
    if let value { hash(value, number) }
  }

  mutating func repeated<S: ScalarType>(_ values: [S.Value], as type: S.Type, number: Int32) {
    hasher.combine(values)
  }

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) {
    hasher.combine(entries)
  }

  mutating func messageMap<K: MapKeyType>(
    _ entries: [K.Value: MessageStorage],
    key: K.Type,
    number: Int32
  ) {
    hasher.combine(entries)
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
    hasher.combine(value)
  }
}
