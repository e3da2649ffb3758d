/// Turns one type of message into bytes and back.
///
/// It sits between the last interceptor and the transport. Whatever it throws ends the call with
/// `INTERNAL`, and nothing else.
public protocol Marshaller<Message>: Sendable {
  /// What it turns into bytes.
  associatedtype Message: Sendable

  /// Writes the message into memory of the transport's kind: make a `MessageBuffer` of the right size and
  /// fill it, so that nothing is copied afterwards.
  func encode(_ message: Message) throws -> MessageBuffer

  /// Reads a message from bytes that are lent for the length of this call.
  func decode(_ bytes: RawSpan) throws -> Message
}

/// Messages that are bytes already.
@frozen
public struct BytesMarshaller: Marshaller {
  /// All of them are alike.
  @inlinable
  public init() {}

  @inlinable
  public func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }

  @inlinable
  public func decode(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
