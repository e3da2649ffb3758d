/// Decodes messages of one call before they are asked for, on any thread, and returns them in that order.
final class DecodedAhead<Message: Sendable>: Marshaller {
  private let base: AnyMarshaller<Message>
  private let decoded = Locked(Queue<(byteCount: Int, message: Result<Message, any Error>)>())

  init(_ base: AnyMarshaller<Message>) { self.base = base }

  func decodeAhead(_ bytes: RawSpan) {
    let message: Result<Message, any Error>
    do { message = .success(try base.decode(bytes)) } catch { message = .failure(error) }
    decoded.withLock { $0.append((bytes.byteCount, message)) }
  }

  func encode(_ message: Message) throws -> MessageBuffer { try base.encode(message) }

  func decode(_ bytes: RawSpan) throws -> Message {
    let count = bytes.byteCount
    // All messages of at least some size are decoded ahead, so that one of the same size is the first of them.
    guard let first = decoded.withLock({ $0.first?.byteCount == count ? $0.popFirst() : nil }) else {
      return try base.decode(bytes)
    }
    return try first.message.get()
  }
}
