// Fields as values of ``DynamicValue``, for callers that know the fields only at run time.
extension MessageStorage {
  /// The value of a field that is set, or nil.
  func value(_ index: Int) -> DynamicValue? {
    let entry = table.entries[index]
    guard isSet(entry) else { return nil }
    if entry.shape == .map { return map(entry, key: entry.keyType.mapKey(checksUTF8: true)) }
    if entry.type.isMessage {
      guard entry.shape == .repeated else { return message(entry).map { .message(DynamicMessage($0)) } }
      return .list((many(entry, as: [MessageStorage].self) ?? []).map { .message(DynamicMessage($0)) })
    }
    return scalarValue(entry, as: table.stored(entry))
  }

  private func scalarValue<S: ScalarType>(_ entry: TableEntry, as scalar: S.Type) -> DynamicValue? {
    guard entry.shape == .repeated else {
      return self.scalar(entry, as: S.Value.self).flatMap { DynamicValue(scalar: $0, of: entry.type) }
    }
    let values = many(entry, as: [S.Value].self) ?? []
    return .list(values.compactMap { DynamicValue(scalar: $0, of: entry.type) })
  }

  private func map<K: MapKeyType>(_ entry: TableEntry, key: K.Type) -> DynamicValue {
    if entry.type.isMessage { return map(entry, key: key, values: MessageStorage.self) }
    return map(entry, key: key, scalar: table.stored(entry))
  }

  private func map<K: MapKeyType, V: ScalarType>(_ entry: TableEntry, key: K.Type, scalar: V.Type)
    -> DynamicValue
  {
    map(entry, key: key, values: V.Value.self)
  }

  private func map<K: MapKeyType, Value>(_ entry: TableEntry, key: K.Type, values: Value.Type) -> DynamicValue
  {
    var result: [DynamicValue: DynamicValue] = [:]
    for (key, value) in many(entry, as: [K.Value: Value].self) ?? [:] {
      guard let key = DynamicValue(scalar: key, of: entry.keyType),
        let value = DynamicValue(scalar: value, of: entry.type)
      else { continue }
      result[key] = value
    }
    return .map(result)
  }

  // MARK: Setting

  /// Sets a field. If the value does not fit the field, changes nothing and returns the kind of the value.
  mutating func set(_ index: Int, to value: DynamicValue) -> String? {
    let table = table
    let entry = table.entries[index]
    let nested = entry.type.isMessage ? table.message(of: entry) : nil
    let unknown = "a number that the enum does not define"
    switch (entry.shape, value) {
    case (.map, .map(let entries)):
      if let key = entries.keys.first(where: { !$0.fits(entry.keyType, nil) }) {
        return "map with the key \(key.kind)"
      }
      if let value = entries.values.first(where: { !$0.fits(entry.type, nested) }) {
        return "map with \(value.kind)"
      }
      guard setMap(entry, entries, key: entry.keyType.mapKey(checksUTF8: true)) else {
        return "map with \(unknown)"
      }
    case (.repeated, .list(let values)):
      if let value = values.first(where: { !$0.fits(entry.type, nested) }) {
        return "list with \(value.kind)"
      }
      guard setList(entry, values) else { return "list with \(unknown)" }
    case (.singular, _), (.oneof, _):
      guard value.fits(entry.type, nested) else { return value.kind }
      switch value {
      case .message(let message): set(entry, to: message.storage)
      case .string(let text): set(entry, to: text)
      default: setScalar(entry, value, as: table.stored(entry))
      }
    default: return value.kind
    }
    return nil
  }

  private mutating func setScalar<S: ScalarType>(
    _ entry: TableEntry,
    _ value: DynamicValue,
    as scalar: S.Type
  ) {
    if let value = value.stored(as: S.Value.self) { set(entry, to: value) }
  }

  /// Returns false, and changes nothing, if the field's closed enum does not define a number. So does `setMap`.
  private mutating func setList(_ entry: TableEntry, _ values: [DynamicValue]) -> Bool {
    if entry.type.isMessage { return setList(entry, values, of: MessageStorage.self) }
    return setList(entry, values, as: table.stored(entry))
  }

  private mutating func setList<S: ScalarType>(
    _ entry: TableEntry,
    _ values: [DynamicValue],
    as scalar: S.Type
  ) -> Bool {
    setList(entry, values, of: S.Value.self)
  }

  private mutating func setList<Value>(
    _ entry: TableEntry,
    _ values: [DynamicValue],
    of type: Value.Type
  ) -> Bool {
    let stored = values.compactMap { $0.stored(as: type) }
    guard stored.count == values.count else { return false }
    makeUnique()
    put(stored.isEmpty ? nil : stored, in: entry)
    return true
  }

  private mutating func setMap<K: MapKeyType>(
    _ entry: TableEntry,
    _ entries: [DynamicValue: DynamicValue],
    key: K.Type
  ) -> Bool {
    if entry.type.isMessage { return setMap(entry, entries, key: key, values: MessageStorage.self) }
    return setMap(entry, entries, key: key, scalar: table.stored(entry))
  }

  private mutating func setMap<K: MapKeyType, V: ScalarType>(
    _ entry: TableEntry,
    _ entries: [DynamicValue: DynamicValue],
    key: K.Type,
    scalar: V.Type
  ) -> Bool {
    setMap(entry, entries, key: key, values: V.Value.self)
  }

  private mutating func setMap<K: MapKeyType, Value>(
    _ entry: TableEntry,
    _ entries: [DynamicValue: DynamicValue],
    key: K.Type,
    values: Value.Type
  ) -> Bool {
    var stored: [K.Value: Value] = [:]
    for (key, value) in entries {
      guard let key = key.stored(as: K.Value.self), let value = value.stored(as: Value.self) else {
        return false
      }
      stored[key] = value
    }
    makeUnique()
    put(stored.isEmpty ? nil : stored, in: entry)
    return true
  }
}

extension TableData {
  /// The scalar type whose Swift type is that of the elements of a field's array or dictionary, or of its slot. Enums are
  /// numbers in a slot, and also in the arrays and dictionaries of a dynamic message.
  func stored(_ entry: TableEntry) -> any ScalarType.Type {
    guard entry.type == .enumeration else { return entry.type.scalar(checksUTF8: true) }
    switch entry.shape {
    case .singular, .oneof: return ProtoInt32.self
    case .repeated, .map: return enumType(of: entry) ?? ProtoInt32.self
    }
  }

  /// The kind of value that a field takes, as ``DynamicValue/kind`` names it.
  func kindOfValue(_ entry: TableEntry) -> String {
    let element = entry.type.isMessage ? "message \(message(of: entry).fullName)" : entry.type.kindOfValue
    switch entry.shape {
    case .map: return "map of \(entry.keyType.kindOfValue) to \(element)"
    case .repeated: return "list of \(element)"
    case .singular, .oneof: return element
    }
  }
}

extension FieldType {
  /// The case of ``DynamicValue`` that has values of this type.
  fileprivate var kindOfValue: String {
    switch self {
    case .int32, .sint32, .sfixed32: "int32"
    case .int64, .sint64, .sfixed64: "int64"
    case .uint32, .fixed32: "uint32"
    case .uint64, .fixed64: "uint64"
    case .message, .group: "message"
    case .float, .double, .bool, .enumeration, .string, .bytes: "\(self)"
    }
  }
}

extension DynamicValue {
  /// The name of the case, and for a message its type.
  var kind: String {
    switch self {
    case .int32: "int32"
    case .int64: "int64"
    case .uint32: "uint32"
    case .uint64: "uint64"
    case .float: "float"
    case .double: "double"
    case .bool: "bool"
    case .enumeration: "enumeration"
    case .string: "string"
    case .bytes: "bytes"
    case .message(let message): "message \(message.type.fullName)"
    case .list: "list"
    case .map: "map"
    }
  }

  /// Whether a field of a type may have the value; for a message, of the type that `table` describes.
  fileprivate func fits(_ type: FieldType, _ table: TableData?) -> Bool {
    switch (self, type) {
    case (.int32, .int32), (.int32, .sint32), (.int32, .sfixed32): true
    case (.int64, .int64), (.int64, .sint64), (.int64, .sfixed64): true
    case (.uint32, .uint32), (.uint32, .fixed32), (.uint64, .uint64), (.uint64, .fixed64): true
    case (.float, .float), (.double, .double), (.bool, .bool): true
    case (.enumeration, .enumeration), (.string, .string), (.bytes, .bytes): true
    case (.message(let message), .message), (.message(let message), .group): message.storage.table == table
    default: false
    }
  }
}
