/// Holds a call whose responses are a stream: when the last reference goes, the call and the task that writes its requests
/// are cancelled.
@usableFromInline
class StreamHold: @unchecked Sendable {
  // Sendable holds because what changes is behind a lock. Unchecked, as subclasses are generic.
  @usableFromInline final let call: any ByteCall
  private let writer = Locked<Task<Void, Never>?>(nil)

  @usableFromInline
  init(_ call: any ByteCall) {
    self.call = call
  }

  deinit {
    call.cancel(.cancelledByCaller)
    writer.withLock { $0 }?.cancel()
  }

  /// Keeps the task that writes requests beside the reader.
  @usableFromInline
  final func keep(_ task: Task<Void, Never>) { writer.withLock { $0 = task } }

  /// Waits for what a reader reads next. A task that is cancelled while it waits cancels the call.
  @inlinable
  nonisolated(nonsending) final func waiting<Message>(
    _ next: nonisolated(nonsending) () async throws -> Message?
  ) async throws -> Message? {
    do {
      return try await next()
    } catch let error as CancellationError {
      call.cancel(.cancelledByCaller)
      throw error
    }
  }
}

/// Reads responses as they come from the transport.
@usableFromInline
final class StreamReader: StreamHold, @unchecked Sendable {
  @usableFromInline let responses: MessagePipe

  @usableFromInline
  init(_ call: any ByteCall, _ responses: MessagePipe) {
    self.responses = responses
    super.init(call)
  }

  /// Ends the call, because a response could not be decoded: whoever reads on is told so again.
  @usableFromInline
  func fail(_ status: GRPCStatus) {
    call.cancel(status)
    responses.abort(status)
  }

  /// The next message.
  @usableFromInline
  nonisolated(nonsending) func next() async throws -> MessageBuffer? {
    switch responses.pop() {
    case .message(let message): return message
    case .end: return nil
    case .failed(let status): throw status
    case .empty: call.look { responses.isReadable }
    }
    return try await waiting { try await responses.next() }
  }
}

/// Reads responses that come out of a chain of interceptors.
@usableFromInline
final class PartReader<Response: Sendable>: StreamHold, @unchecked Sendable {
  @usableFromInline let queue: PartQueue<Response>

  @inlinable
  init<Request>(_ pipeline: ClientPipeline<Request, Response>) {
    let queue = PartQueue<Response> { pipeline.receiveNextMessages($0, to: pipeline.applicationEnd) }
    pipeline.room = { await queue.waitUntilWritable(afterBytes: $0) }
    self.queue = queue
    super.init(pipeline)
  }

  /// The next message.
  @inlinable
  nonisolated(nonsending) func next() async throws -> Response? {
    try await waiting { try await queue.next() }
  }
}

extension PartQueue {
  /// Takes a part that has passed the chain.
  @inlinable
  func take(_ part: GRPCClientResponsePart<Element>, _ record: CallRecord?) {
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
