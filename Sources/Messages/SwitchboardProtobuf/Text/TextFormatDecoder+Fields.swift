import SwitchboardText

// Reads the value of each kind of field. Unlike in binary, a singular field must not be repeated.
extension TextFormatDecoder: NamedFieldDecoder {
  static var isSpecialized: Bool { false }

  var fieldEnum: EnumTable? {
    get { reader.enumTable }
    set { reader.enumTable = newValue }
  }

  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError) {
    try refuseIfSet(!S.isInitial(value))
    value = try scalar(type)
  }

  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError) {
    try refuseIfSet(value != nil)
    value = try scalar(type)
  }

  mutating func oneof(
    isSet: Bool,
    _ read: (inout TextFormatDecoder) throws(DecodeError) -> Bool
  ) throws(DecodeError) {
    try refuseIfSet(isSet)
    _ = try read(&self)
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

  mutating func message(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError) {
    try refuseIfSet(value != nil)
    _ = reader.take(":")
    var new = MessageStorage(table)
    try body(of: &new)
    value = new
  }

  mutating func messages(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError) {
    _ = reader.take(":")
    try list { decoder throws(DecodeError) in
      var new = MessageStorage(table)
      try decoder.body(of: &new)
      values.append(new)
    }
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

  mutating func messageMap<K: MapKeyType>(
    _ entries: inout [K.Value: MessageStorage],
    key: K.Type,
    of table: TableData
  ) throws(DecodeError) {
    _ = reader.take(":")
    try list { decoder throws(DecodeError) in
      var newValue: MessageStorage?
      let newKey = try decoder.entry(key: K.self) { decoder throws(DecodeError) in
        try decoder.message(&newValue, of: table)
      }
      if newValue == nil { try decoder.objects.claim(table) }
      entries[newKey] = newValue ?? MessageStorage(table)
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
        decoder.fieldStart = decoder.reader.position
        switch decoder.reader.identifier() {
        case "key":
          try decoder.optional(&newKey, as: K.self)
          if let text = newKey as? String, text.hasLongRunOfMarks {
            throw decoder.reader.error(DecodeError.longRunOfMarks, at: decoder.fieldStart)
          }
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
