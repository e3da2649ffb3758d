// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv
import SwitchboardCall

/// Looks after the loops of all servers and channels of the process, from one thread.
///
/// ```
///   asleep ──a loop has work──> looking, every 25 ms ──nothing for 250 ms──> asleep
/// ```
package final class LoopWatchdog: Sendable {
  package static let shared = LoopWatchdog()

  private struct Watched: Sendable {
    let activity: LoopActivity
    var reporters: [ObjectIdentifier: BlockListener] = [:]

    var look: BlockWatch.Look {
      let sight = activity.sight
      let limit = sight.isWorking ? reporter(of: sight.method)?.limit : nil
      return BlockWatch.Look(loop: ObjectIdentifier(activity), sight: sight, limit: limit ?? .max)
    }

    /// The reporter of the method's server or of the call's channel. For work of the loop's own, it is one with the least
    /// limit.
    func reporter(of method: UInt) -> BlockListener? {
      reporters.values.first { $0.knows(method) } ?? reporters.values.min { $0.limit < $1.limit }
    }
  }

  /// Who has put what into the log about a loop.
  private typealias Reported = (reporter: BlockListener, method: UInt)

  private struct State: Sendable {
    var watched: [ObjectIdentifier: Watched] = [:]
    /// The loops of each reporter.
    var loops: [ObjectIdentifier: [ObjectIdentifier]] = [:]
    var isRunning = false

    mutating func remove(_ reporter: ObjectIdentifier) {
      for loop in loops.removeValue(forKey: reporter) ?? [] {
        watched[loop]?.reporters[reporter] = nil
        if watched[loop]?.reporters.isEmpty == true { watched[loop] = nil }
      }
    }
  }

  private let state = Locked(State())
  private let bell = Bell()

  /// Looks after these loops too, of which several servers may have one. If the system has no thread for that, nobody
  /// does.
  package func watch(_ loops: [Loop], for reporter: BlockListener) {
    let mustStart = state.withLock { state in
      let ids = loops.map { ObjectIdentifier($0.activity) }
      for (id, loop) in zip(ids, loops) {
        state.watched[id, default: Watched(activity: loop.activity)].reporters[ObjectIdentifier(reporter)] =
          reporter
      }
      state.loops[ObjectIdentifier(reporter)] = ids
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if !mustStart { return bell.ring() }
    if !DetachedThread.start({ self.run() }) { state.withLock { $0.isRunning = false } }
  }

  package func unwatch(for reporter: BlockListener) {
    state.withLock { $0.remove(ObjectIdentifier(reporter)) }
    // The thread may still have what it has reported.
    bell.ring()
  }

  /// Called by a loop that works again.
  func wake() { bell.ring() }

  // MARK: The thread

  private func run() {
    var watch = BlockWatch()
    var reported: [ObjectIdentifier: Reported] = [:]
    while true {
      // Nothing of a server is kept while the thread sleeps.
      let activities = look(&watch, &reported)
      guard watch.isQuiet else {
        bell.wait(for: BlockWatch.interval)
        continue
      }
      for activity in activities { activity.setBell(true) }
      // A loop that has not seen this yet has worked by the next look.
      bell.wait(for: BlockWatch.interval)
      _ = look(&watch, &reported)
      if watch.isQuiet { bell.wait() }
      for activity in activities { activity.setBell(false) }
      watch.restart()
    }
  }

  private func look(
    _ watch: inout BlockWatch,
    _ reported: inout [ObjectIdentifier: Reported]
  ) -> [LoopActivity] {
    let watched = state.withLock(\.watched)
    let now = uv_hrtime()
    for finding in watch.look(watched.values.map(\.look), at: now) {
      switch finding {
      case .blocked(let loop, let method, let time):
        guard let reporter = watched[loop]?.reporter(of: method) else { continue }
        if reporter.blocked(method, for: time, at: now) { reported[loop] = (reporter, method) }
      case .released(let loop, let time):
        guard let (reporter, method) = reported.removeValue(forKey: loop) else { continue }
        reporter.released(method, after: time)
      }
    }
    if !reported.isEmpty { reported = reported.filter { watched[$0.key] != nil } }
    return watched.values.map(\.activity)
  }
}

/// What one thread waits for and others ring.
private final class Bell: @unchecked Sendable {
  // Sendable because `isRung` is only used under the mutex.
  private let mutex = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<uv_cond_t>.allocate(capacity: 1)
  private var isRung = false

  init() {
    uv_mutex_init(mutex)
    uv_cond_init(condition)
  }

  deinit {
    uv_cond_destroy(condition)
    uv_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func ring() {
    uv_mutex_lock(mutex)
    isRung = true
    uv_cond_signal(condition)
    uv_mutex_unlock(mutex)
  }

  /// Returns when the bell is rung, or after this time in nanoseconds.
  func wait(for time: UInt64? = nil) {
    uv_mutex_lock(mutex)
    if let time {
      if !isRung { uv_cond_timedwait(condition, mutex, time) }
    } else {
      while !isRung { uv_cond_wait(condition, mutex) }
    }
    isRung = false
    uv_mutex_unlock(mutex)
  }
}
