/// The stream of a call's responses, to be read once. It ends if the call succeeds, and throws the status if it fails. A
/// second loop over it, after one that has come to the end, throws `FAILED_PRECONDITION`.
///
/// ```swift
/// for try await reply in client.expand(request) { print(reply.text) }
/// ```
@frozen
public struct ResponseStream<Response: Sendable>: AsyncSequence, Sendable {
  @usableFromInline
  @frozen
  enum Source: Sendable {
    /// Messages straight from the transport.
    case bytes(StreamReader, StreamDecoder<Response>)
    /// Messages from a chain of interceptors.
    case parts(PartReader<Response>)
  }

  @usableFromInline let source: Source

  @inlinable
  init(_ reader: StreamReader, _ decoder: StreamDecoder<Response>) { source = .bytes(reader, decoder) }

  @inlinable
  init(_ reader: PartReader<Response>) { source = .parts(reader) }

  /// Cancels the call. Messages already received can still be read.
  public func cancel() { owner.call.cancel(.cancelledByCaller) }

  @usableFromInline
  func keep(_ writer: Task<Void, Never>) { owner.keep(writer) }

  /// Whether an iterator has read the end of a call that succeeded.
  package var endWasRead: Bool {
    switch source {
    case .bytes(let reader, _): reader.responses.endWasRead
    case .parts(let reader): reader.queue.queue.state.withLock { $0.endWasRead }
    }
  }

  /// Whether a response has been read.
  package var wasRead: Bool {
    switch source {
    case .bytes(let reader, _): reader.responses.wasRead
    case .parts(let reader): reader.queue.queue.state.withLock { $0.wasRead }
    }
  }

  /// Makes every later read throw `status`, also if there are unread responses. The call goes on.
  package func close(_ status: GRPCStatus) {
    switch source {
    case .bytes(let reader, _): reader.responses.abort(status)
    case .parts(let reader): reader.queue.abort(status)
    }
  }

  private var owner: StreamOwner {
    switch source {
    case .bytes(let reader, _): reader
    case .parts(let reader): reader
    }
  }

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
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Response? {
      switch source {
      case .bytes(let reader, let decoder):
        reading.readsOn()
        guard let message = try await reader.next() else { return try end() }
        lastWasCompressed = message.wasCompressed
        guard reading.mayTake(message) else { return try await nextSlowly(message) }
        return try message.withBytes(decoder.decode)
      case .parts:
        return try await nextSlowly(nil)
      }
    }

    /// One function for what is not inlined, as that of `RequestStream`.
    @inlinable @inline(never)
    nonisolated(nonsending) mutating func nextSlowly(_ message: MessageBuffer?) async throws -> Response? {
      switch source {
      case .bytes(let reader, let decoder):
        guard let message else { return nil }
        return try await reading.take(message, of: reader.responses, decoder)
      case .parts(let reader):
        return try await reader.next(&reading) ?? end()
      }
    }

    /// An iterator may be asked again after the end.
    @usableFromInline
    mutating func end() throws -> Response? {
      guard !hasEnded else { return nil }
      hasEnded = true
      switch source {
      case .bytes(let reader, _): try reader.responses.readEnd()
      case .parts(let reader): try reader.queue.queue.readEnd()
      }
      return nil
    }
  }
}
