#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Server {
  /// What the system sends a process to end it.
  public enum TerminationSignal: Sendable, CaseIterable {
    /// From a terminal's Ctrl-C.
    case interrupt
    /// From whoever supervises the process.
    case terminate

    var number: Int32 {
      switch self {
      case .interrupt: SIGINT
      case .terminate: SIGTERM
      }
    }
  }

  /// Serves until the process is sent one of the signals, or the task is cancelled; then shuts down: no call is taken
  /// any more, and those under way may finish for as long as `grace` allows.
  ///
  /// A second signal, while calls finish, does what it did before: unless the program has a handler of its own, it ends the
  /// process at once.
  ///
  /// `ready` is called when the signals are watched for: before that they end the process as they always do, so that
  /// whoever is to send them is told no earlier.
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

/// A signal or a cancellation, whichever comes first.
private final class StopRequest: @unchecked Sendable {
  // Sendable holds because what changes is touched on the loop alone.
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
        // A loop that has ended can wait for nothing.
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
