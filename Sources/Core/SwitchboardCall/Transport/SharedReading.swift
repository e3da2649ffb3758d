// unsafe: a continuation that the work which it waits for resumes once

/// How the messages of a stream are decoded, in closures that are specialized for their types.
@frozen
@usableFromInline
package struct StreamDecoder<Message: Sendable>: Sendable {
  @usableFromInline let decode: @Sendable (RawSpan) throws -> Message
  /// See `Marshaller.decodesOnLoop`.
  @usableFromInline let decodesOnLoop: @Sendable (RawSpan) -> Bool

  @inlinable
  package init(
    _ decode: @escaping @Sendable (RawSpan) throws -> Message,
    onLoop decodesOnLoop: @escaping @Sendable (RawSpan) -> Bool
  ) {
    self.decode = decode
    self.decodesOnLoop = decodesOnLoop
  }
}

/// What a task that reads messages on a loop leaves of it to others: messages that take long to decode are decoded on
/// another thread, and after a number of others, other work has its turn.
@frozen
@usableFromInline
package struct SharedReading: Sendable {
  /// What was read since other work had its turn.
  @usableFromInline var byteCount = 0
  /// The last message that another thread decoded, which is not released here.
  @usableFromInline var large: (any AnyObject & Sendable)?

  @usableFromInline package init() {}

  /// Called before the reader waits for another message, which may never come: nothing keeps the last one until then.
  @inlinable @inline(__always)
  package mutating func readsOn() { if large != nil { large = nil } }

  /// Whether the message may be decoded at once.
  @inlinable @inline(__always)
  package mutating func mayTake(_ message: borrowing MessageBuffer) -> Bool {
    byteCount += message.byteCount + MessageBuffer.prefixByteCount
    return byteCount < MessageBuffer.largeByteCount
  }

  /// Decodes a message of a pipe that may not be decoded at once.
  @usableFromInline
  nonisolated(nonsending) package mutating func take<Message: Sendable>(
    _ message: MessageBuffer,
    of pipe: MessagePipe,
    _ decoder: StreamDecoder<Message>
  ) async throws -> Message {
    byteCount = 0
    // Other threads serve nobody else meanwhile.
    guard LoopOfThread.address != nil else { return try message.withBytes(decoder.decode) }
    guard !message.withBytes(decoder.decodesOnLoop) else {
      await Task.yield()
      return try message.withBytes(decoder.decode)
    }
    let decoded = DecodedMessage<Message>()
    await pipe.doElsewhere { message.withBytes { decoded.decode($0, decoder.decode) } }
    large = decoded
    return try decoded.get()
  }
}

extension MessagePipe {
  /// Waits for work on another thread, which does not begin if the call is over.
  fileprivate nonisolated(nonsending) func doElsewhere(_ work: @escaping @Sendable () -> Void) async {
    guard let observer = queue.state.withLock({ $0.extra.observer }) else {
      // The transport has left the messages to their reader.
      return await Task.detached(priority: .ofLargeMessages) { work() }.value
    }
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      observer.doElsewhere(work) { continuation.resume() }
    }
  }
}
