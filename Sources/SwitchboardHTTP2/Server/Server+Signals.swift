#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Server {
  /// The signals that ask a process to end.
  public enum TerminationSignal: Sendable, CaseIterable {
    /// Sent by Ctrl-C in a terminal.
    case interrupt
    /// Sent by the process's supervisor.
    case terminate

    var number: Int32 {
      switch self {
      case .interrupt: SIGINT
      case .terminate: SIGTERM
      }
    }
  }

  /// Serves until the process receives one of the signals or the task is cancelled, and then shuts down: no new calls
  /// are accepted, and calls in progress may finish within `grace`.
  ///
  /// A second signal has its usual effect: unless the program has its own handler, it ends the process at once, even
  /// while calls finish.
  ///
  /// `ready` is called when the signals are being watched. Until then they end the process as usual, so do not announce
  /// the process to whatever sends them any earlier.
  public func run(
    until signals: Set<TerminationSignal> = [.interrupt, .terminate],
    grace: Duration = .seconds(30),
    ready: @escaping @Sendable () -> Void = {}
  ) async {
    let stop = StopRequest(signals.map(\.number), on: core.group.nextLoop())
    await withTaskCancellationHandler {
      await stop.wait(ready)
    } onCancel: {
      stop.fire()
    }
    await shutDown(grace: grace)
  }
}

/// Waits for a signal or a cancellation, whichever comes first.
private final class StopRequest: @unchecked Sendable {
  // Sendable because mutable state is only used on the loop.
  private let loop: Loop
  private let signals: [Int32]
  private var watcher: SignalWatcher?
  private var isOver = false

  init(_ signals: [Int32], on loop: Loop) {
    self.loop = loop
    self.signals = signals
  }

  func wait(_ ready: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      loop.execute {
        // A loop that has ended cannot wait.
        guard !self.isOver, !self.loop.hasEnded else { return continuation.resume() }
        self.watcher = SignalWatcher(self.signals, on: self.loop) {
          self.watcher = nil
          continuation.resume()
        }
        ready()
      }
    }
  }

  func fire() {
    loop.execute {
      self.isOver = true
      self.watcher?.finish()
    }
  }
}
