// The signatures of swift-service-lifecycle that the bridge uses; a group shuts down when the test says so.

public protocol Service: Sendable {
  func run() async throws
}

/// Ends a group's services gracefully.
public final class StandInGroup: Sendable {
  @TaskLocal public static var current: StandInGroup?
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  public init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self) }

  public func run(_ service: some Service) async throws {
    try await Self.$current.withValue(self) { try await service.run() }
  }
  public func shutDown() { continuation.finish() }
  fileprivate func wait() async { for await _ in stream {} }
}

public func gracefulShutdown() async throws {
  await StandInGroup.current?.wait()
  try Task.checkCancellation()
}
