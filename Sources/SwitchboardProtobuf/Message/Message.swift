/// A protobuf message: a value that can be walked field by field.
///
/// Generated types implement the two walks, `decodeField(_:from:)` and `traverse(_:)`, and
/// every format (binary, JSON, text) is a decoder or a visitor of them. Users call what the
/// extensions of this protocol offer: ``with(_:)``, `init(serializedBytes:)`, `serializedBytes()`,
/// `init(jsonString:)`, `jsonString()`, `textFormatString()`.
public protocol Message: MessageFields, CustomDebugStringConvertible {
  /// The full name of the message's type in its `.proto` file, such as `google.protobuf.Any`.
  static var protoMessageName: String { get }

  /// Whether every `required` field is set, here and in all messages below.
  var isInitialized: Bool { get }

  // The three below have one implementation each, in extensions. They are requirements so that
  // each conformance holds a copy that the compiler has specialised for its type: code that
  // is generic over messages then pays one indirect call per message instead of one per field.

  /// Reads fields up to the end of what `decoder` was given, merging them into this message.
  mutating func merge(from decoder: inout BinaryDecoder) throws(DecodeError)

  /// Counts the bytes that ``encode(to:)`` will write.
  func measure(with counter: inout SizeCounter) throws(EncodeError)

  /// Writes the fields in binary, into memory that ``measure(with:)`` has sized.
  func encode(to encoder: inout BinaryEncoder) throws(EncodeError)

  // These two have one implementation for messages that are objects in JSON, and others for those that are not.

  /// Reads a JSON value and merges it into this message.
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError)

  /// Writes this message as a JSON value.
  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError)
}

extension Message {
  /// True: a type with `required` fields, or with fields whose types have them, says otherwise.
  @inlinable
  public var isInitialized: Bool { true }

  /// Makes a message and fills it in one expression.
  ///
  ///     let request = Echo_EchoRequest.with { $0.text = "Hello" }
  @inlinable
  public static func with(_ populate: (inout Self) throws -> Void) rethrows -> Self {
    var message = Self()
    try populate(&message)
    return message
  }
}

extension Message {
  public var debugDescription: String { "" }
}
