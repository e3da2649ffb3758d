extension ServerCallContext {
  /// Whether the server has begun to shut down: it accepts no more calls, and those in progress have the time of its
  /// grace to end.
  public var isShuttingDown: Bool { stream.shutdown.hasBegun }

  /// Runs `operation`, and calls `action` once if the server begins to shut down meanwhile, from any thread; at once, if
  /// it has begun.
  ///
  /// ```swift
  /// let (changes, continuation) = AsyncStream.makeStream(of: Change.self)
  /// try await context.withShutdownHandler {
  ///   for await change in changes { try await responseStream.send(change) }
  /// } onShutdown: {
  ///   continuation.finish()
  /// }
  /// ```
  nonisolated(nonsending) public func withShutdownHandler<Result>(
    _ operation: nonisolated(nonsending) () async throws -> Result,
    onShutdown action: @escaping @Sendable () -> Void
  ) async rethrows -> Result {
    let shutdown = stream.shutdown
    let number = shutdown.add(action)
    defer { shutdown.remove(number) }
    return try await operation()
  }

  /// Runs `operation` in a task of its own, and cancels that if the server begins to shut down meanwhile. Then it throws
  /// `UNAVAILABLE`, with which the call should end, so that its client goes to another server.
  ///
  /// ```swift
  /// try await context.untilShutdown {
  ///   for await change in changes { try await responseStream.send(change) }
  /// }
  /// ```
  nonisolated(nonsending) public func untilShutdown<Result: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let (shutdown, continuation) = AsyncStream.makeStream(of: Never.self)
    // A child runs where the handler does.
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await operation() }
      group.addTask {
        for await _ in shutdown {}
        return nil
      }
      return try await withShutdownHandler {
        if let result = try await group.next() ?? nil {
          group.cancelAll()
          return result
        }
        let wasCancelled = Task.isCancelled
        group.cancelAll()
        return try await Self.end(of: &group, wasCancelled)
      } onShutdown: {
        continuation.finish()
      }
    }
  }

  /// What an operation that was cancelled returned or threw. A loop over a stream ends without an error then, and without
  /// having come to its end. Any other result stands: what has happened must not be repeated elsewhere.
  nonisolated(nonsending) private static func end<Result: Sendable>(
    of group: inout ThrowingTaskGroup<Result?, any Error>,
    _ wasCancelled: Bool
  ) async throws -> Result {
    do {
      guard let result = try await group.next() ?? nil else { throw CancellationError() }
      if Result.self != Void.self || wasCancelled { return result }
    } catch is CancellationError where !wasCancelled {}
    throw GRPCStatus.serverIsShuttingDown
  }
}

extension GRPCStatus {
  static let serverIsShuttingDown = GRPCStatus(code: .unavailable, message: "the server is shutting down")
  package static let graceIsOver = GRPCStatus(
    code: .unavailable,
    message: "the server is shutting down, and the call had not ended by the end of its grace",
    origin: .library
  )
}
