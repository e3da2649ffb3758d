// Reads the value of each kind of field. `null` means that the field is absent, except for types that have `null` as a
// value.
extension JSONMessageDecoder: FieldDecoder {
  public mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError) {
    if !S.acceptsJSONNull, try takeNull() { return }
    try S.replaceJSON(&value, from: &reader)
  }

  public mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError) {
    if let new = try scalar(type) { value = new }
  }

  public mutating func oneof<S: ScalarType>(_ type: S.Type, isSet: Bool) throws(DecodeError) -> S.Value? {
    let start = reader.position
    let new = try scalar(type)
    if isSet, new != nil { throw alreadySet(at: start) }
    return new
  }

  private func alreadySet(at start: Int) -> DecodeError {
    reader.fail("another field of the same oneof is set already", at: start)
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

  public mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError)
  {
    if try takeNull() { return }
    try reader.enter(UInt8(ascii: "["))
    try S.readJSONElements(into: &values, from: &reader)
  }

  // MARK: Messages

  public mutating func message<M: Message>(_ value: inout M?) throws(DecodeError) {
    let table = fieldTable
    if reader.peek() == UInt8(ascii: "n"), !M.acceptsJSONNull(table) {
      try reader.expect("null")
    } else {
      try value[or: M.empty(of: table)].merge(from: &self)
    }
  }

  public mutating func messages<M: Message>(_ values: inout [M]) throws(DecodeError) {
    if try takeNull() { return }
    let table = fieldTable
    var isFirst = true
    var index = 0
    try reader.enter(UInt8(ascii: "["))
    while try reader.hasNext(UInt8(ascii: "]"), isFirst: &isFirst) {
      values.append(M.empty(of: table))
      do throws(DecodeError) {
        try values[values.count - 1].merge(from: &self)
      } catch {
        throw error.inElement(index)
      }
      index += 1
    }
  }

  public mutating func group<M: Message>(_ value: inout M?) throws(DecodeError) { try message(&value) }

  public mutating func groups<M: Message>(_ values: inout [M]) throws(DecodeError) { try messages(&values) }

  public mutating func oneofMessage<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) {
    let start = reader.position
    var new: M?
    try message(&new)
    guard let new else { return }
    if isSet { throw alreadySet(at: start) }
    value = new
  }

  public mutating func oneofGroup<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) {
    try oneofMessage(&value, isSet: isSet)
  }

  // MARK: Maps

  public mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError) {
    try mapEntries(&entries, key: key) { decoder throws(DecodeError) in
      try V.readJSON(from: &decoder.reader)
    }
  }

  public mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: inout [K.Value: M],
    key: K.Type
  ) throws(DecodeError) {
    let table = fieldTable
    try mapEntries(&entries, key: key) { decoder throws(DecodeError) in
      var value = M.empty(of: table)
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
      if let place = entries.index(forKey: key), !K.areDifferent(entries.keys[place], key) {
        throw reader.fail("duplicate key", at: start)
      }
      do throws(DecodeError) {
        if let value = try value(&self) { entries[key] = value }
      } catch {
        var error = error
        error.path.insert("[\(key)]", at: 0)
        throw error
      }
    }
  }

  // MARK: Extensions

  public mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    try extensions?.field(of: type, number: number)?.decode(into: &fields, from: &self)
  }

  public mutating func messageSetField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    try extensionField(number, of: type, into: &fields)
  }
}

extension MapKeyType {
  /// Whether two keys differ. Swift considers strings equal that differ only in their Unicode normalization.
  fileprivate static func areDifferent(_ left: Value, _ right: Value) -> Bool {
    areInIncreasingOrder(left, right) || areInIncreasingOrder(right, left)
  }
}
