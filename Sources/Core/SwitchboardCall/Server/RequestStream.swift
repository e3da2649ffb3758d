/// The stream of a call's requests, which can be read once, by one task at a time.
///
/// Reading gives the client room to send more: when a handler stops reading, the client must wait.
///
/// ```swift
/// func collect(requests: RequestStream<Note>, context: ServerCallContext) async throws -> Summary {
///   var count = 0
///   for try await _ in requests { count += 1 }
///   return Summary(count: count)
/// }
/// ```
@frozen
public struct RequestStream<Request: Sendable>: AsyncSequence, Sendable {
  @usableFromInline
  @frozen
  enum Source: Sendable {
    /// Messages straight from the transport.
    case bytes(MessagePipe, StreamDecoder<Request>)
    /// Messages from a chain of interceptors.
    case parts(PartQueue<Request>)
  }

  @usableFromInline let source: Source

  /// The messages of a pipe, decoded by the reader as it reads them.
  @inlinable
  package init(_ pipe: MessagePipe, _ decoder: StreamDecoder<Request>) { source = .bytes(pipe, decoder) }

  @inlinable
  package init(_ queue: PartQueue<Request>) { source = .parts(queue) }

  @inlinable
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

  @frozen
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline let source: Source
    /// Whether the last message read was compressed. Always `false` behind interceptors.
    @usableFromInline package var lastWasCompressed = false
    @usableFromInline var reading = SharedReading()
    @usableFromInline var hasEnded = false

    @inlinable
    init(source: Source) { self.source = source }

    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Request? {
      switch source {
      case .bytes(let pipe, let decoder):
        reading.readsOn()
        guard let message = try await pipe.next() else { return try end() }
        lastWasCompressed = message.wasCompressed
        guard reading.mayTake(message) else { return try await nextSlowly(message) }
        return try message.withBytes(decoder.decode)
      case .parts:
        return try await nextSlowly(nil)
      }
    }

    /// One function for what is not inlined: with another call that may suspend, the compiler would not inline `next`, which
    /// costs each message an asynchronous frame.
    @inlinable @inline(never)
    nonisolated(nonsending) mutating func nextSlowly(_ message: MessageBuffer?) async throws -> Request? {
      switch source {
      case .bytes(let pipe, let decoder):
        guard let message else { return nil }
        return try await reading.take(message, of: pipe, decoder)
      case .parts(let queue):
        return try await queue.next(&reading) ?? end()
      }
    }

    /// An iterator may be asked again after the end.
    @usableFromInline
    mutating func end() throws -> Request? {
      guard !hasEnded else { return nil }
      hasEnded = true
      switch source {
      case .bytes(let pipe, _): try pipe.readEnd()
      case .parts(let queue): try queue.queue.readEnd()
      }
      return nil
    }
  }
}
