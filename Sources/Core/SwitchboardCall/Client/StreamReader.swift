// unsafe: a class with subclasses: what changes is behind a lock

/// Owns a call with streamed responses: releasing the last reference cancels it and the task that writes its requests.
@usableFromInline
class StreamOwner: @unchecked Sendable {
  // Sendable holds because mutable state is locked. It is unchecked because subclasses are generic.
  @usableFromInline final let call: any ByteCall
  private let writer = Locked<Task<Void, Never>?>(nil)

  @usableFromInline
  init(_ call: any ByteCall) { self.call = call }

  deinit {
    call.cancel(.cancelledByCaller)
    writer.withLock { $0 }?.cancel()
  }

  /// Keeps the task that writes requests while responses are read.
  @usableFromInline
  final func keep(_ task: Task<Void, Never>) { writer.withLock { $0 = task } }

  /// Waits for the next message. Cancelling the waiting task cancels the call, and throws what a call with one response
  /// throws.
  @inlinable
  nonisolated(nonsending) final func waiting<Message>(
    _ next: nonisolated(nonsending) () async throws -> Message?
  ) async throws -> Message? {
    do {
      return try await next()
    } catch is CancellationError {
      call.cancel(.cancelledByCaller)
      throw GRPCStatus.cancelledByCaller
    }
  }
}

/// Reads responses straight from the transport.
@usableFromInline
final class StreamReader: StreamOwner, @unchecked Sendable {
  @usableFromInline let responses: MessagePipe

  @usableFromInline
  init(_ call: any ByteCall, _ responses: MessagePipe) {
    self.responses = responses
    super.init(call)
  }

  /// Ends the call because a response could not be decoded; later reads throw the same status. The server may have ended
  /// the call with another one before.
  @usableFromInline
  func fail(_ status: GRPCStatus, _ record: CallRecord?) {
    record?.fail(status)
    call.cancel(status)
    responses.abort(status)
  }

  @usableFromInline
  nonisolated(nonsending) func next() async throws -> MessageBuffer? {
    switch responses.pop() {
    case .message(let message): return message
    case .end: return nil
    case .failed(let status): throw status
    case .empty: call.poll { responses.isReadable }
    }
    return try await waiting { try await responses.next() }
  }
}

/// Reads responses from a chain of interceptors.
@usableFromInline
final class PartReader<Response: Sendable>: StreamOwner, @unchecked Sendable {
  @usableFromInline let queue: PartQueue<Response>

  @inlinable
  init<Request>(_ chain: ClientChain<Request, Response>) {
    let queue = PartQueue<Response> { chain.receiveNextMessages($0, to: chain.applicationEnd) }
    chain.keep { rare in
      rare.room = { try await queue.waitUntilWritable(afterBytes: $0) }
      rare.keepNext = { queue.keepNext($0) }
    }
    self.queue = queue
    super.init(chain)
  }

  @inlinable
  nonisolated(nonsending) func next(_ reading: inout SharedReading) async throws -> Response? {
    try await waiting { try await queue.next(&reading) }
  }
}

extension PartQueue {
  /// Receives a part that has passed the chain.
  @inlinable
  func take(_ part: GRPCClientResponsePart<Message>, _ record: CallRecord?) {
    switch part {
    case .metadata(let headers):
      record?.receive(headers: headers)
    case .message(let message):
      push(message)
    case .end(let status, let trailers):
      finish(status.isOk ? nil : status)
      record?.close(status, trailers)
    }
  }
}
