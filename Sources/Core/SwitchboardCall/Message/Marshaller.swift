/// Encodes messages of one type as bytes, and decodes them.
///
/// It sits between the last interceptor and the transport. An error that it throws ends the call with `INTERNAL`.
///
/// ```swift
/// struct TextMarshaller: Marshaller {
///   func encode(_ text: String) throws -> MessageBuffer { MessageBuffer(text.utf8) }
///   func decode(_ bytes: RawSpan) throws -> String {
///     bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
///   }
/// }
/// ```
public protocol Marshaller<Message>: Sendable {
  /// The message type.
  associatedtype Message: Sendable

  /// The content subtype of the encoded messages. There is none by default: the method determines the format.
  var contentSubtype: ContentSubtype { get }

  /// Whether the marshaller decodes messages with this content subtype; by default only with its own.
  func reads(_ subtype: ContentSubtype) -> Bool

  /// Encodes the message. To avoid copies, make a `MessageBuffer` of the right size and fill it.
  func encode(_ message: Message) throws -> MessageBuffer

  /// Decodes a message from bytes that are valid only during the call.
  func decode(_ bytes: RawSpan) throws -> Message

  /// Whether these bytes, of which there are many, take little more time to decode than to copy. By default, they do not:
  /// another thread than that of the call's loop decodes them, so that other calls do not wait meanwhile.
  func decodesQuickly(_ bytes: RawSpan) -> Bool
}

extension Marshaller {
  @inlinable
  public var contentSubtype: ContentSubtype { .unnamed }

  public func reads(_ subtype: ContentSubtype) -> Bool { subtype == contentSubtype }

  public func decodesQuickly(_ bytes: RawSpan) -> Bool { false }

  /// The name of a format that is not protobuf; a format without a name may be protobuf.
  var foreignName: String? { reads(.proto) ? nil : contentSubtype.name }

  /// Whether a loop may decode a message of these bytes.
  @inlinable
  package func decodesOnLoop(_ bytes: RawSpan) -> Bool {
    bytes.byteCount < MessageBuffer.largeByteCount
      || bytes.byteCount <= MessageBuffer.longestOnLoop && decodesQuickly(bytes)
  }
}
