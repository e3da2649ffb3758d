// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

/// Work that a loop received after its end. It must not be lost, because other code may wait for it, and it must not
/// run on two threads at once, because it was written to run on a loop.
///
/// ```
///   the loop's thread ──nothing left──> idle ────work comes──> a thread of the pool
///                                         ^────nothing left────────┘
/// ```
final class LateWork: Sendable {
  private struct State {
    var work: [LoopWork] = []
    /// A thread is running the work: at first the loop's own, at its end.
    var isBeingRun = true
  }

  private let state = Locked(State())

  /// Adds work. Returns whether the caller must run it.
  func put(_ work: LoopWork) -> Bool {
    state.withLock { state in
      state.work.append(work)
      defer { state.isBeingRun = true }
      return !state.isBeingRun
    }
  }

  /// Takes all work. Returns `false` if there is none; the caller then stops running it.
  func take(into work: inout [LoopWork]) -> Bool {
    let taken = state.withLock { state in
      defer { state.work = [] }
      if state.work.isEmpty { state.isBeingRun = false }
      return state.work
    }
    // Another thread may run later work now, and then owns `work`.
    guard !taken.isEmpty else { return false }
    work += taken
    return true
  }
}

extension Loop {
  /// Runs the work on the loop or, if that has ended, in the global pool, one item at a time. There are no sockets and
  /// no timers then; see `hasEnded`.
  package func run(_ work: LoopWork) {
    if !add(work) { runLate(work) }
  }

  /// Runs `body` on the loop; `nil` if the loop has ended.
  package func find<Found: Sendable>(_ body: @escaping @Sendable () -> Found?) async -> Found? {
    await withCheckedContinuation { continuation in
      let isAccepted = add(.closure { continuation.resume(returning: body()) })
      if !isAccepted { continuation.resume(returning: nil) }
    }
  }

  /// A separate function, so that `run` stays small.
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
