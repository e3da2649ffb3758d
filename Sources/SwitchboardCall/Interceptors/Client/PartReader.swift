/// The caller's hold on the streamed responses that come out of a chain: letting go cancels the call.
@usableFromInline
final class PartReader<Response: Sendable>: Sendable {
  @usableFromInline let queue: PartQueue<Response>
  @usableFromInline let cancel: @Sendable () -> Void
  private let writer = Locked<Task<Void, Never>?>(nil)

  @inlinable
  convenience init<Request>(_ pipeline: ClientPipeline<Request, Response>) {
    let queue = PartQueue<Response> { pipeline.receiveNextMessages($0, to: 0) }
    pipeline.room = { await queue.waitUntilWritable(afterBytes: $0) }
    self.init(queue) { pipeline.cancelByCaller() }
  }

  @usableFromInline
  init(_ queue: PartQueue<Response>, cancel: @escaping @Sendable () -> Void) {
    self.queue = queue
    self.cancel = cancel
  }

  deinit {
    cancel()
    writer.withLock { $0 }?.cancel()
  }

  /// Writes requests beside the reader.
  @usableFromInline
  func write(on eventLoop: any EventLoop, _ body: @escaping @Sendable () async -> Void) {
    let task = Task(executorPreference: eventLoop) { await body() }
    writer.withLock { $0 = task }
  }

  /// The next message. A task that is cancelled while it waits cancels the call.
  @inlinable
  nonisolated(nonsending) func next() async throws -> Response? {
    do {
      return try await queue.next()
    } catch let error as CancellationError {
      cancel()
      throw error
    }
  }
}

extension PartQueue {
  /// What a caller of streamed responses makes of the parts.
  @inlinable
  var sink: (GRPCClientResponsePart<Element>) -> Void {
    { part in
      switch part {
      case .metadata: break
      case .message(let message): self.push(message)
      case .end(let status, _): self.finish(status.isOk ? nil : status)
      }
    }
  }
}
