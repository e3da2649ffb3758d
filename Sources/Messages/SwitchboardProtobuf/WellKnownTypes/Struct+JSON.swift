// text: the dictionary that users see, whose keys are bounded when they are read

// In JSON: any value.
extension Google_Protobuf_Value: CustomJSON {
  static var acceptsJSONNull: Bool { true }

  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    switch decoder.reader.peek() {
    case UInt8(ascii: "n"):
      try decoder.reader.expect("null")
      kind = .nullValue(.nullValue)
    case UInt8(ascii: "t"), UInt8(ascii: "f"): kind = .boolValue(try decoder.reader.bool())
    case UInt8(ascii: "\""): kind = .stringValue(try decoder.reader.string())
    case UInt8(ascii: "{"):
      var value = Google_Protobuf_Struct()
      try value.merge(from: &decoder)
      kind = .structValue(value)
    case UInt8(ascii: "["):
      var value = Google_Protobuf_ListValue()
      try value.merge(from: &decoder)
      kind = .listValue(value)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      kind = .numberValue(try decoder.reader.double())
    default: throw decoder.reader.unexpected("a value")
    }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    switch kind {
    case .nullValue?: encoder.writer.verbatim("null")
    case .numberValue(let value)?:
      guard value.isFinite else {
        throw EncodeError(.unrepresentable("a Value that is NaN or infinite"))
      }
      encoder.writer.double(value)
    case .stringValue(let value)?: encoder.writer.string(value)
    case .boolValue(let value)?: encoder.writer.bool(value)
    case .structValue(let value)?: try value.encode(to: &encoder)
    case .listValue(let value)?: try value.encode(to: &encoder)
    case nil: throw EncodeError(.unrepresentable("a Value without a kind"))
    }
  }
}

// In JSON: an object.
extension Google_Protobuf_Struct: CustomJSON {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    guard decoder.reader.peek() == UInt8(ascii: "{") else { throw decoder.reader.unexpected("'{'") }
    try withStorages(in: &fields, as: [String: MessageStorage].self) { fields throws(DecodeError) in
      try decoder.messageMap(&fields, key: ProtoString.self, of: Google_Protobuf_Value._table)
    }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    try encoder.map(fields, key: ProtoString.self) { (encoder, value) throws(EncodeError) in
      try value.encode(to: &encoder)
    }
  }
}

// In JSON: an array.
extension Google_Protobuf_ListValue: CustomJSON {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    guard decoder.reader.peek() == UInt8(ascii: "[") else { throw decoder.reader.unexpected("'['") }
    try withStorages(in: &values, as: [MessageStorage].self) { values throws(DecodeError) in
      try decoder.messages(&values, of: Google_Protobuf_Value._table)
    }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    try encoder.array(values.map(\._storage))
  }
}

// In JSON: null; its name and number are read as well.
extension Google_Protobuf_NullValue {
  public static var acceptsJSONNull: Bool { true }

  public static func readJSON(
    from reader: inout JSONReader
  ) throws(DecodeError) -> Google_Protobuf_NullValue? {
    guard reader.peek() == UInt8(ascii: "n") else { return try reader.enumValue() }
    try reader.expect("null")
    return .nullValue
  }

  public static func writeJSON(_ value: Google_Protobuf_NullValue, to writer: inout JSONWriter) {
    writer.verbatim("null")
  }
}
