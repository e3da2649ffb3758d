/// A protobuf message: a value whose fields can be decoded and visited one by one.
///
/// Generated types implement `decodeField(_:from:)` and `traverse(_:)`; every format (binary, JSON, text) is a decoder
/// or a visitor for them. Users call the extensions of this protocol: ``with(_:)``, `init(serializedBytes:)`,
/// `serializedBytes()`, `init(jsonString:)`, `jsonString()`, `textFormatString()`.
public protocol Message: MessageFields, CustomDebugStringConvertible {
  /// The full name of the message's type in its `.proto` file, such as `google.protobuf.Any`.
  static var protoMessageName: String { get }

  /// Whether every `required` field is set, in this message and in all messages in it.
  var isInitialized: Bool { get }

  // Each of the next three has one implementation, in an extension. They are requirements so that each conformance gets
  // a copy specialised for its type: code that is generic over messages then makes one indirect call per message
  // instead of one per field.

  /// Reads fields until the end of the message or group and merges them into this message.
  mutating func merge(from decoder: inout BinaryDecoder) throws(DecodeError)

  /// Computes the size of what ``encode(to:)`` will write.
  func measure(with counter: inout SizeCounter) throws(EncodeError)

  /// Writes the fields in binary into memory whose size ``measure(with:)`` computed.
  func encode(to encoder: inout BinaryEncoder) throws(EncodeError)

  // These two have a default implementation for messages whose JSON form is an object; messages with another form
  // implement their own.

  /// Reads a JSON value and merges it into this message.
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError)

  /// Writes this message as a JSON value.
  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError)
}

extension Message {
  /// True; a type with `required` fields, or with fields whose types have some, overrides it.
  @inlinable
  public var isInitialized: Bool { true }

  /// Creates a message and sets its fields in one expression.
  ///
  ///     let request = Echo_EchoRequest.with { $0.text = "Hello" }
  @inlinable
  public static func with(_ populate: (inout Self) throws -> Void) rethrows -> Self {
    var message = Self()
    try populate(&message)
    return message
  }
}
