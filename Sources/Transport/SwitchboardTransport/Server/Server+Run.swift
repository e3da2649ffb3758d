import SwitchboardCall

// Without types of its own, so that clients need not contain it: linkers keep what is in the file of a type.
extension Server {
  /// Serves until the process receives one of the signals, the task is cancelled or `shutDown` is called, and then shuts
  /// down: no new calls are accepted, and calls in progress may finish within `grace`.
  ///
  /// A second signal has its usual effect: unless the program has its own handler, it ends the process at once, even
  /// while calls finish.
  ///
  /// Both also hold for a signal that the process ignores before, as shells make what a script starts in the background
  /// (`server &`) ignore SIGINT. Leave it out of `signals` to go on ignoring it.
  ///
  /// `ready` is called when the signals are being watched, in a task of its own: whatever it does, the server serves. Until then
  /// they end the process as usual, so announce the process to its supervisor only then.
  ///
  /// Each signal ends the servers that run when it comes. Run several at once, such as by `async let`: one that runs after
  /// another was ended by a signal waits for the next one, and the log has a warning if it listened at the time of the first.
  ///
  /// Throws `FAILED_PRECONDITION` if the server is not bound to an address, or was shut down before, and would wait for
  /// nothing, and `INVALID_ARGUMENT` if `grace` is below zero.
  ///
  /// ```swift
  /// try await server.run { print("ready") }
  /// ```
  public func run(
    until signals: Set<TerminationSignal> = [.interrupt, .terminate],
    grace: Duration = .seconds(30),
    ready: @escaping @Sendable () -> Void = {}
  ) async throws(GRPCStatus) {
    try OptionRange.atLeast(.zero).check(grace, "grace")
    guard core.wasBound else { throw refused(.notBound) }
    guard !core.shutdown.hasBegun else { throw refused(.wasShutDown) }
    if core.wasBoundBeforeLastSignal {
      core.options.logger.log(
        .warning,
        "a signal has already ended another run() of this process, while this server listened: it waits for the next one; run "
          + "servers at once, such as by async let"
      )
    }
    let stop = StopRequest(signals.map(\.number), on: core.group.nextLoop())
    let ending = core.shutdown.add { stop.fire() }
    defer { core.shutdown.remove(ending) }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        stop.wait(ready) { continuation.resume() }
      }
    } onCancel: {
      stop.fire()
    }
    guard core.shutdown.hasBegun else { return await shutDown(grace: grace) }
    // Whoever shuts the server down has chosen the grace.
    await core.waitUntilEmpty()
    await core.waitForGracefulCloses()
  }

  /// The error, which the log has too: nobody sees that of a task which nobody awaits.
  private func refused(_ status: GRPCStatus) -> GRPCStatus {
    core.options.logger.log(.warning, "a server does not run", ["reason": "\(status)"])
    return status
  }
}

extension Server {
  @available(*, unavailable, message: "call bind(host:port:), and then run(), which ends with a signal")
  public func serve() async throws {}

  @available(*, unavailable, message: "call bind(host:port:), and then run(), which ends with a signal")
  public func start() async throws {}

  @available(*, unavailable, renamed: "shutDown(grace:)")
  public func stop() async {}

  @available(*, unavailable, renamed: "shutDown(grace:)")
  public func close() async {}

  @available(*, unavailable, renamed: "shutDown(grace:)")
  public func shutdown() async {}
}
