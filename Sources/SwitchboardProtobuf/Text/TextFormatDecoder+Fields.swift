// Reads the value of each kind of field. Unlike in binary, a singular field must not be repeated.
extension TextFormatDecoder: FieldDecoder {
  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError) {
    try refuseIfSet(!S.isInitial(value))
    value = try scalar(type)
  }

  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError) {
    try refuseIfSet(value != nil)
    value = try scalar(type)
  }

  mutating func oneof<S: ScalarType>(_ type: S.Type, isSet: Bool) throws(DecodeError) -> S.Value? {
    try refuseIfSet(isSet)
    return try scalar(type)
  }

  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError) {
    try reader.expect(":")
    try list { decoder throws(DecodeError) in values.append(try S.readText(from: &decoder.reader)) }
  }

  private mutating func scalar<S: ScalarType>(_ type: S.Type) throws(DecodeError) -> S.Value {
    try reader.expect(":")
    return try S.readText(from: &reader)
  }

  private func refuseIfSet(_ isSet: Bool) throws(DecodeError) {
    if isSet {
      throw reader.error("the field, or another field of its oneof, is already set", at: fieldStart)
    }
  }

  // MARK: Messages

  mutating func message<M: Message>(_ value: inout M?) throws(DecodeError) {
    try refuseIfSet(value != nil)
    _ = reader.take(":")
    var new = M.empty(of: fieldTable)
    try body(of: &new)
    value = new
  }

  mutating func messages<M: Message>(_ values: inout [M]) throws(DecodeError) {
    _ = reader.take(":")
    let table = fieldTable
    try list { decoder throws(DecodeError) in
      var new = M.empty(of: table)
      try decoder.body(of: &new)
      values.append(new)
    }
  }

  mutating func group<M: Message>(_ value: inout M?) throws(DecodeError) { try message(&value) }

  mutating func groups<M: Message>(_ values: inout [M]) throws(DecodeError) { try messages(&values) }

  mutating func oneofMessage<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) {
    try refuseIfSet(isSet)
    try message(&value)
  }

  mutating func oneofGroup<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) {
    try oneofMessage(&value, isSet: isSet)
  }

  // MARK: Maps

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError) {
    _ = reader.take(":")
    try list { decoder throws(DecodeError) in
      var newValue: V.Value?
      let newKey = try decoder.entry(key: K.self) { decoder throws(DecodeError) in
        try decoder.optional(&newValue, as: V.self)
      }
      entries[newKey] = newValue ?? V.protoDefault
    }
  }

  mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: inout [K.Value: M],
    key: K.Type
  ) throws(DecodeError) {
    _ = reader.take(":")
    let table = fieldTable
    try list { decoder throws(DecodeError) in
      var newValue: M?
      decoder.fieldTable = table
      let newKey = try decoder.entry(key: K.self) { decoder throws(DecodeError) in
        try decoder.message(&newValue)
      }
      entries[newKey] = newValue ?? M.empty(of: table)
    }
  }

  /// Reads a map entry, which has the form of a message with two fields, and returns its key.
  private mutating func entry<K: MapKeyType>(
    key: K.Type,
    value: (inout TextFormatDecoder) throws(DecodeError) -> Void
  ) throws(DecodeError) -> K.Value {
    var newKey: K.Value?
    try nested { (decoder, end) throws(DecodeError) in
      while !decoder.reader.take(end) {
        decoder.fieldStart = decoder.reader.place
        switch decoder.reader.identifier() {
        case "key": try decoder.optional(&newKey, as: K.self)
        case "value": try value(&decoder)
        case _? where decoder.options.ignoreUnknownFields: try decoder.skipValue()
        default: throw decoder.reader.error("expected 'key' or 'value'", at: decoder.fieldStart)
        }
        decoder.separator()
      }
    }
    return newKey ?? K.protoDefault
  }
}
