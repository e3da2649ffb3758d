import Synchronization

/// A queue that writers wait for.
@usableFromInline
protocol WriterRoom: AnyObject, Sendable {
  nonisolated(nonsending) func waitUntilWritable() async throws
}

extension MessagePipe: WriterRoom {}
extension PartQueue: WriterRoom {}

/// Where a writer waits until what it wrote has gone on.
@usableFromInline
struct InterceptorGate: Sendable {
  /// What may still be under way on executors of interceptors, where there are any.
  let executors: Credit?
  /// The next queue; `nil` where there is none yet.
  let queue: (any WriterRoom)?

  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable() async throws {
    try await executors?.wait()
    try await queue?.waitUntilWritable()
  }
}

/// Writes typed messages to a chain of interceptors, and waits where the network does.
@usableFromInline
final class PartWriter<Message: Sendable>: Sendable {
  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let send: @Sendable (Message, MessageMetadata) -> Void
  @usableFromInline let room: @Sendable () throws -> InterceptorGate
  /// How many were written; below zero once no more may be.
  @usableFromInline let written = Atomic(0)

  /// Off the loop, this many messages may be on their way to it.
  @usableFromInline static var window: Int { 16 }

  @inlinable
  init(
    _ eventLoop: any EventLoop,
    room: @escaping @Sendable () throws -> InterceptorGate,
    send: @escaping @Sendable (Message, MessageMetadata) -> Void
  ) {
    self.eventLoop = eventLoop
    self.room = room
    self.send = send
  }

  /// Says that no message follows. `true` the first time.
  @usableFromInline
  func finish() -> Bool { written.exchange(.min, ordering: .relaxed) >= 0 }

  /// Returns once there is room for another message. Throws once the call has ended, or the writer has finished.
  @inlinable
  nonisolated(nonsending) func write(
    _ message: Message,
    _ metadata: MessageMetadata = MessageMetadata()
  ) async throws {
    guard written.load(ordering: .relaxed) >= 0 else { throw GRPCStatus.writeAfterEnd }
    if eventLoop.inEventLoop {
      send(message, metadata)
      try await room().waitUntilWritable()
    } else if written.wrappingAdd(1, ordering: .relaxed).newValue % Self.window != 0 {
      eventLoop.execute { self.send(message, metadata) }
    } else {
      let gate = try await eventLoop.submit {
        self.send(message, metadata)
        return try self.room()
      }
      try await gate.waitUntilWritable()
    }
  }
}

extension EventLoop {
  /// Runs the work on the loop, at once where this is it, and waits for its result.
  @inlinable
  func submit<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    if inEventLoop { return try work() }
    return try await withCheckedThrowingContinuation { continuation in
      execute { continuation.resume(with: .init { try work() }) }
    }
  }
}
