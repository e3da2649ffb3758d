import Synchronization

/// Writes typed messages to a chain of interceptors, and waits where the network does.
@usableFromInline
final class PartWriter<Message: Sendable>: Sendable {
  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let send: @Sendable (Message, MessageMetadata) -> Void
  @usableFromInline let room: @Sendable () throws -> InterceptorGate
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

  /// Returns once there is room for another message. Throws once the call has ended.
  @inlinable
  nonisolated(nonsending) func write(
    _ message: Message,
    _ metadata: MessageMetadata = MessageMetadata()
  ) async throws {
    if eventLoop.inEventLoop {
      send(message, metadata)
      try await room().waitUntilWritable()
    } else if written.wrappingAdd(1, ordering: .relaxed).newValue % Self.window != 0 {
      eventLoop.execute { self.send(message, metadata) }
    } else {
      let gate = try await withCheckedThrowingContinuation { continuation in
        eventLoop.execute {
          self.send(message, metadata)
          continuation.resume(with: Result { try self.room() })
        }
      }
      try await gate.waitUntilWritable()
    }
  }
}
