// Reads the value of each kind of field. `null` means that the field is absent, except for types that have `null` as a
// value.
extension JSONMessageDecoder: NamedFieldDecoder {
  static var isSpecialized: Bool { true }

  var fieldEnum: EnumTable? {
    get { reader.enumTable }
    set { reader.enumTable = newValue }
  }

  /// Refuses a member of a oneof that has one already.
  mutating func oneof(
    isSet: Bool,
    _ read: (inout JSONMessageDecoder) throws(DecodeError) -> Bool
  ) throws(DecodeError) {
    let start = reader.position
    let hasValue = try read(&self)
    if isSet, hasValue {
      throw reader.fail("another field of the same oneof is already set", at: start)
    }
  }

  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError) {
    if !S.acceptsJSONNull, try takeNull() { return }
    try S.replaceJSON(&value, from: &reader)
  }

  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError) {
    if let new = try scalar(type) { value = new }
  }

  private mutating func scalar<S: ScalarType>(_ type: S.Type) throws(DecodeError) -> S.Value? {
    if !S.acceptsJSONNull, try takeNull() { return nil }
    return try S.readJSON(from: &reader)
  }

  /// Skips a `null` that means an absent value.
  private mutating func takeNull() throws(DecodeError) -> Bool {
    guard reader.peek() == UInt8(ascii: "n") else { return false }
    try reader.expect("null")
    return true
  }

  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError) {
    if try takeNull() { return }
    try reader.enter(UInt8(ascii: "["))
    try S.readJSONElements(into: &values, from: &reader)
  }

  // MARK: Messages

  mutating func message(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError) {
    if reader.peek() == UInt8(ascii: "n"), !table.acceptsJSONNull {
      try reader.expect("null")
    } else {
      try value[or: MessageStorage(table)].merge(from: &self)
    }
  }

  mutating func messages(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError) {
    if try takeNull() { return }
    var isFirst = true
    var index = 0
    try reader.enter(UInt8(ascii: "["))
    while try reader.hasNext(UInt8(ascii: "]"), isFirst: &isFirst) {
      values.append(MessageStorage(table))
      do throws(DecodeError) {
        try values[values.count - 1].merge(from: &self)
      } catch {
        throw error.inElement(index)
      }
      index += 1
    }
  }

  // MARK: Maps

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError) {
    try mapEntries(&entries, key: key) { decoder throws(DecodeError) in
      try V.readJSON(from: &decoder.reader)
    }
  }

  mutating func messageMap<K: MapKeyType>(
    _ entries: inout [K.Value: MessageStorage],
    key: K.Type,
    of table: TableData
  ) throws(DecodeError) {
    try mapEntries(&entries, key: key) { decoder throws(DecodeError) in
      var value = MessageStorage(table)
      try value.merge(from: &decoder)
      return value
    }
  }

  /// Reads the members of an object as map entries, without those that have no value.
  private mutating func mapEntries<K: MapKeyType, Value>(
    _ entries: inout [K.Value: Value],
    key: K.Type,
    value: (inout JSONMessageDecoder) throws(DecodeError) -> Value?
  ) throws(DecodeError) {
    if try takeNull() { return }
    var isFirst = true
    try reader.enter(UInt8(ascii: "{"))
    while try reader.hasNext(UInt8(ascii: "}"), isFirst: &isFirst) {
      _ = reader.peek()
      let start = reader.position
      let key = try K.readJSONKey(from: &reader)
      try reader.expect(UInt8(ascii: ":"))
      if let index = entries.index(forKey: key) {
        throw reader.fail(
          K.areDifferent(entries.keys[index], key) ? Self.sameKey : "duplicate key",
          at: start
        )
      }
      do throws(DecodeError) {
        if let value = try value(&self) { entries[key] = value }
      } catch {
        throw error.inside("[\(key)]")
      }
    }
  }

  /// Not a duplicate, but the dictionary would lose one of the two.
  private static let sameKey = "the key differs from another one only in its Unicode normalization"
}

extension MapKeyType {
  /// Whether two keys differ. Swift considers strings equal that differ only in their Unicode normalization.
  fileprivate static func areDifferent(_ left: Value, _ right: Value) -> Bool {
    areInIncreasingOrder(left, right) || areInIncreasingOrder(right, left)
  }
}
