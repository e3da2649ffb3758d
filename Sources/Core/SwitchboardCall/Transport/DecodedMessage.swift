extension TaskPriority {
  /// That of the work on large messages. The pool has other threads for it than for the tasks of the program, which would
  /// otherwise wait behind the large messages of all connections. Next to loops that are busy, such a thread gets two thirds
  /// of what a loop gets of a processor, on Linux; with the priority `background`, it would get a tenth, and calls would
  /// wait for minutes.
  package static let ofLargeMessages = TaskPriority.utility
}

/// A large message that another thread has decoded. It may consist of a million objects, so they are released on another
/// thread too, unless the reader keeps them longer than this object.
final class DecodedMessage<Message: Sendable>: Sendable {
  private final class Content: Sendable {
    let result = Locked<Result<Message, any Error>?>(nil)
  }

  private let content = Content()

  deinit {
    let content = content
    Task.detached(priority: .ofLargeMessages) { content.result.withLock { $0 = nil } }
  }

  func decode(_ bytes: RawSpan, _ decode: (RawSpan) throws -> Message) {
    let result: Result<Message, any Error>
    do { result = .success(try decode(bytes)) } catch { result = .failure(error) }
    content.result.withLock { $0 = result }
  }

  /// What decodes a response on another thread, and then passes it on, on the loop.
  static func decoder(
    _ decode: @escaping @Sendable (RawSpan) throws -> Message,
    _ receive: @escaping @Sendable (() throws -> Message) -> Void
  ) -> ResponseDecoder {
    return { bytes in
      let decoded = DecodedMessage()
      decoded.decode(bytes, decode)
      return { receive(decoded.get) }
    }
  }

  /// Fails if it was not decoded, because the call had ended.
  func get() throws -> Message {
    guard let result = content.result.withLock({ $0 }) else { throw GRPCStatus.callEnded }
    return try result.get()
  }
}

/// Decodes the one request of a call before it is asked for, on any thread.
final class DecodedAhead<Message: Sendable>: Marshaller {
  private let base: AnyMarshaller<Message>
  private let decoded = DecodedMessage<Message>()

  init(_ base: AnyMarshaller<Message>) { self.base = base }

  func decodeAhead(_ bytes: RawSpan) { decoded.decode(bytes) { bytes in try base.decode(bytes) } }

  func encode(_ message: Message) throws -> MessageBuffer { try base.encode(message) }

  func decode(_ bytes: RawSpan) throws -> Message { try decoded.get() }
}
