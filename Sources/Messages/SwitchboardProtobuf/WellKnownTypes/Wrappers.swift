/// A message with one field, `value`, that gives a scalar presence: `google.protobuf.Int32Value` and its like.
public protocol WrapperMessage: Message {
  /// The type of the field.
  associatedtype Scalar: ScalarType

  /// The wrapped value.
  var value: Scalar.Value { get set }
}

extension WrapperMessage {
  /// A message with a value.
  public init(_ value: Scalar.Value) {
    self.init()
    self.value = value
  }

  // In JSON: the value itself.

  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    if let value = try Scalar.readJSON(from: &decoder.reader) { self.value = value }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    Scalar.writeJSON(value, to: &encoder.writer)
  }
}

extension Google_Protobuf_DoubleValue: WrapperMessage, CustomJSON, ExpressibleByFloatLiteral {
  public typealias Scalar = ProtoDouble
  public init(floatLiteral value: Double) { self.init(value) }
}

extension Google_Protobuf_FloatValue: WrapperMessage, CustomJSON, ExpressibleByFloatLiteral {
  public typealias Scalar = ProtoFloat
  public init(floatLiteral value: Float) { self.init(value) }
}

extension Google_Protobuf_Int64Value: WrapperMessage, CustomJSON, ExpressibleByIntegerLiteral {
  public typealias Scalar = ProtoInt64
  public init(integerLiteral value: Int64) { self.init(value) }
}

extension Google_Protobuf_UInt64Value: WrapperMessage, CustomJSON, ExpressibleByIntegerLiteral {
  public typealias Scalar = ProtoUInt64
  public init(integerLiteral value: UInt64) { self.init(value) }
}

extension Google_Protobuf_Int32Value: WrapperMessage, CustomJSON, ExpressibleByIntegerLiteral {
  public typealias Scalar = ProtoInt32
  public init(integerLiteral value: Int32) { self.init(value) }
}

extension Google_Protobuf_UInt32Value: WrapperMessage, CustomJSON, ExpressibleByIntegerLiteral {
  public typealias Scalar = ProtoUInt32
  public init(integerLiteral value: UInt32) { self.init(value) }
}

extension Google_Protobuf_BoolValue: WrapperMessage, CustomJSON, ExpressibleByBooleanLiteral {
  public typealias Scalar = ProtoBool
  public init(booleanLiteral value: Bool) { self.init(value) }
}

extension Google_Protobuf_StringValue: WrapperMessage, CustomJSON, ExpressibleByStringLiteral {
  public typealias Scalar = ProtoString
  public init(stringLiteral value: String) { self.init(value) }
}

extension Google_Protobuf_BytesValue: WrapperMessage, CustomJSON, ExpressibleByArrayLiteral {
  public typealias Scalar = ProtoBytes
  public init(arrayLiteral elements: UInt8...) { self.init(elements) }
}
