import SwitchboardCall

/// Work that was given to a loop after its end. It must not be lost, for somebody may wait for it; and it must not run on two
/// threads at once, for it is written to run on a loop.
///
/// ```
///   the loop's thread ──nothing left──> nobody ──work comes──> a thread of the pool
///                                         ^────nothing left────────┘
/// ```
final class LateWork: Sendable {
  private struct State {
    var work: [LoopWork] = []
    /// Somebody runs what is here: at first the loop's own thread, at its end.
    var isBeingRun = true
  }

  private let state = Locked(State())

  /// Whether the caller has to see to it that the work is run.
  func put(_ work: LoopWork) -> Bool {
    state.withLock { state in
      state.work.append(work)
      defer { state.isBeingRun = true }
      return !state.isBeingRun
    }
  }

  /// `false` where there is none; whoever ran it is done then.
  func take(into work: inout [LoopWork]) -> Bool {
    let taken = state.withLock { state in
      defer { state.work = [] }
      if state.work.isEmpty { state.isBeingRun = false }
      return state.work
    }
    // Somebody else may run later work by now, and `work` is theirs.
    guard !taken.isEmpty else { return false }
    work += taken
    return true
  }
}

extension Loop {
  /// Runs the work on the loop; where that has ended, in its place: in the global pool, one piece after the other. There are
  /// no sockets and no timers then, as `hasEnded` says.
  func run(_ work: LoopWork) {
    if !add(work) { runLate(work) }
  }

  /// Apart, so that `run` stays small.
  @inline(never)
  private func runLate(_ work: LoopWork) {
    if late.put(work) { Task.detached { self.standIn() } }
  }

  private func standIn() {
    let before = LoopOfThread.address
    LoopOfThread.set(Unmanaged.passUnretained(self).toOpaque())
    defer { LoopOfThread.set(before) }
    runLateWork()
  }
}
