/// Turns one type of message into bytes and back.
///
/// It sits between the last interceptor and the transport. Whatever it throws ends the call with
/// `INTERNAL`, and nothing else.
public protocol Marshaller<Message>: Sendable {
  /// What it turns into bytes.
  associatedtype Message: Sendable

  /// What a call's content type says of its bytes: by default nothing, which leaves it to the method.
  var contentSubtype: ContentSubtype { get }

  /// Whether it reads what goes by this name: by default the name that it gives its own bytes.
  func reads(_ subtype: ContentSubtype) -> Bool

  /// Writes the message into memory of the transport's kind: make a `MessageBuffer` of the right size and
  /// fill it, so that nothing is copied afterwards.
  func encode(_ message: Message) throws -> MessageBuffer

  /// Reads a message from bytes that are lent for the length of this call.
  func decode(_ bytes: RawSpan) throws -> Message
}

extension Marshaller {
  @inlinable
  public var contentSubtype: ContentSubtype { .unnamed }

  public func reads(_ subtype: ContentSubtype) -> Bool { subtype == contentSubtype }
}
