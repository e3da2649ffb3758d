// unsafe: state confined to the connection's loop

import SwitchboardNetwork
import Synchronization

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
}

/// How many signals have ended a run of a server in this process.
enum SignalCount {
  private static let count = Atomic(0)

  static var current: Int { count.load(ordering: .relaxed) }

  static func add() { count.add(1, ordering: .relaxed) }
}

/// Waits for a signal or a cancellation, whichever comes first.
final class StopRequest: @unchecked Sendable {
  // Sendable because mutable state is only used on the loop.
  private let loop: Loop
  private let signals: [Int32]
  private var watcher: SignalWatcher?
  private var isOver = false

  init(_ signals: [Int32], on loop: Loop) {
    self.loop = loop
    self.signals = signals
  }

  /// Calls `ready` once the signals are being watched, and `completion` after the first of them or the cancellation.
  func wait(_ ready: @escaping @Sendable () -> Void, completion: @escaping @Sendable () -> Void) {
    loop.execute {
      // A loop that has ended cannot wait.
      guard !self.isOver, !self.loop.hasEnded else { return completion() }
      self.watcher = SignalWatcher(self.signals, on: self.loop) {
        self.watcher = nil
        if !self.isOver { SignalCount.add() }
        completion()
      }
      // The program's own work would occupy the loop.
      Task { ready() }
    }
  }

  func fire() {
    loop.execute {
      self.isOver = true
      self.watcher?.finish()
    }
  }
}
