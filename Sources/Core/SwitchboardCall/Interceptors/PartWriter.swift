import Synchronization

/// A queue that writers wait for.
@usableFromInline
package protocol WriterRoom: AnyObject, Sendable {
  nonisolated(nonsending) func waitUntilWritable() async throws
}

extension MessagePipe: WriterRoom {}
extension PartQueue: WriterRoom {}

/// Where a writer waits until its messages have moved on.
@usableFromInline
struct InterceptorGate: Sendable {
  /// Limits the interceptors' work in flight outside the loop, if there is any.
  let executors: Credit?
  /// The next queue; `nil` if it does not exist yet.
  let queue: (any WriterRoom)?

  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable() async throws {
    try await executors?.wait()
    try await queue?.waitUntilWritable()
  }
}

/// Writes typed messages to a chain of interceptors, and waits while the network has no room.
@usableFromInline
final class PartWriter<Message: Sendable>: Sendable {
  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let send: @Sendable (Message, MessageMetadata) -> Void
  @usableFromInline let room: @Sendable () throws -> InterceptorGate
  /// How many messages other threads have written; negative once the writer has finished.
  @usableFromInline let written = Atomic(0)
  /// Whether a writer has been told that the call has ended.
  @usableFromInline let isCutOff = Atomic(false)

  /// How many messages from other threads may be on their way to the loop.
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

  /// Ends the messages. Returns `true` the first time.
  @usableFromInline
  func finish() -> Bool { written.exchange(.min, ordering: .relaxed) >= 0 }

  /// Writes a message, and returns when there is room for another. Throws if the call has ended or the writer has
  /// finished.
  @inlinable
  nonisolated(nonsending) func write(
    _ message: Message,
    _ metadata: MessageMetadata = MessageMetadata()
  ) async throws {
    guard written.load(ordering: .relaxed) >= 0 else { throw GRPCStatus.writeAfterEnd }
    do {
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
    } catch let status as GRPCStatus {
      isCutOff.store(true, ordering: .relaxed)
      throw status
    }
  }
}

extension EventLoop {
  /// Runs `work` on the loop, immediately if this is the loop, and waits for its result.
  @inlinable
  func submit<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    if inEventLoop { return try work() }
    return try await withCheckedThrowingContinuation { continuation in
      execute { continuation.resume(with: .init { try work() }) }
    }
  }
}
