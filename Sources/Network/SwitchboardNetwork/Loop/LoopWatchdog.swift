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
    var reporters: [BlockListener]

    var look: BlockWatch.Look {
      BlockWatch.Look(
        loop: ObjectIdentifier(activity),
        sight: activity.sight,
        limit: reporters.map(\.limit).min() ?? .max
      )
    }

    /// The reporter of the method's server, if the method is known.
    func reporter(of method: UInt) -> BlockListener? {
      reporters.first { $0.knows(method) } ?? reporters.first
    }
  }

  /// Who has put what into the log about a loop.
  private typealias Reported = (reporter: BlockListener, method: UInt)

  private struct State: Sendable {
    var watched: [Watched] = []
    var isRunning = false
  }

  private let state = Locked(State())
  private let bell = Bell()

  /// Looks after these loops too, of which several servers may have one. If the system has no thread for that, nobody
  /// does.
  package func watch(_ loops: [Loop], for reporter: BlockListener) {
    let mustStart = state.withLock { state in
      for loop in loops {
        let activity = loop.activity
        if let index = state.watched.firstIndex(where: { $0.activity === activity }) {
          state.watched[index].reporters.append(reporter)
        } else {
          state.watched.append(Watched(activity: activity, reporters: [reporter]))
        }
      }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if !mustStart { return bell.ring() }
    if !start() { state.withLock { $0.isRunning = false } }
  }

  package func unwatch(for reporter: BlockListener) {
    state.withLock { state in
      for index in state.watched.indices { state.watched[index].reporters.removeAll { $0 === reporter } }
      state.watched.removeAll(where: \.reporters.isEmpty)
    }
    // The thread may still have what it has reported.
    bell.ring()
  }

  /// Called by a loop that works again.
  func wake() { bell.ring() }

  private func start() -> Bool {
    var thread = uv_thread_t()
    let argument = Unmanaged.passUnretained(self).toOpaque()
    let result = uv_thread_create(
      &thread,
      { argument in
        guard let argument else { return }
        Unmanaged<LoopWatchdog>.fromOpaque(argument).takeUnretainedValue().run()
      },
      argument
    )
    guard result == 0 else { return false }
    pthread_detach(thread)
    return true
  }

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
    for finding in watch.look(watched.map(\.look), at: now) {
      switch finding {
      case .blocked(let loop, let method, let time):
        let one = watched.first { ObjectIdentifier($0.activity) == loop }
        guard let reporter = one?.reporter(of: method) else { continue }
        if reporter.blocked(method, for: time, at: now) { reported[loop] = (reporter, method) }
      case .released(let loop, let time):
        guard let (reporter, method) = reported.removeValue(forKey: loop) else { continue }
        reporter.released(method, after: time)
      }
    }
    if !reported.isEmpty {
      let loops = Set(watched.map { ObjectIdentifier($0.activity) })
      reported = reported.filter { loops.contains($0.key) }
    }
    return watched.map(\.activity)
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
