// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks
// state: timers, polling, executors and clocks are not yet parts of their own

import CLibuv
import SwitchboardCall
import Synchronization

/// An event loop: a libuv loop on its own thread, which is also a Swift executor.
///
/// In each turn it waits for the sockets, reads from them, runs the jobs that become ready, and then writes their
/// output, in one write per connection.
package final class Loop: EventLoop, @unchecked Sendable {
  // Sendable because everything except `mailbox`, `late` and `wake` is touched only on the loop's own thread, or by the
  // thread that replaces it after its end, as the thread-local variable records; `mailbox` and `late` use locks, and
  // libuv allows sending `wake` from any thread. Unchecked exclusivity holds for the same reason: no two accesses
  // overlap, and no accessor calls other code during an access. Other modules would check it nevertheless, so what they
  // use for each call are functions.

  let uv: UnsafeMutablePointer<uv_loop_t>
  private let wake: UnsafeMutablePointer<uv_async_t>
  private let alarm: UnsafeMutablePointer<uv_timer_t>
  private let mailbox = Mailbox()
  /// The work received after the loop's end.
  let late = LateWork()
  /// Whether the thread has ended: then there are no sockets and no timers. On the loop, or on the thread that replaces
  /// it.
  package var hasEnded: Bool { threadHasEnded }
  @exclusivity(unchecked) private var threadHasEnded = false

  @exclusivity(unchecked) private var local: [LoopWork] = []
  @exclusivity(unchecked) private var running: [LoopWork] = []
  @exclusivity(unchecked) private var flushes = FlushList()
  @exclusivity(unchecked) private var timers = TimerHeap()
  @exclusivity(unchecked) private(set) var alarmTime: UInt64 = .max
  /// Wakes the loop for precise timers. Created for the first one.
  @exclusivity(unchecked) private var preciseAlarm: AlarmDescriptor?
  @exclusivity(unchecked) private var isStopping = false
  /// How far tests have advanced the clock, which any thread may read.
  let advance = Atomic<UInt64>(0)
  /// The number of polls for readable sockets.
  @exclusivity(unchecked) package private(set) var turn: UInt64 = 0
  /// What the loop does now, for other threads.
  package let activity = LoopActivity()
  /// The work on messages since the last poll.
  @exclusivity(unchecked) var work = TurnWork()
  /// The expectation for the next wait.
  @exclusivity(unchecked) private var expectation = Expectation.none
  /// The number of open sockets and listeners: the loop stops only when there are none.
  @exclusivity(unchecked) package var openHandles = 0
  /// Sockets waiting for their peers to read the last bytes.
  @exclusivity(unchecked) var lingeringSockets = 0 {
    didSet {
      guard lingeringSockets == 0 else { return }
      for waiter in lingeringWaiters { waiter.resume() }
      lingeringWaiters = []
    }
  }
  static let maxLingeringSockets = 256
  @exclusivity(unchecked) private var lingeringWaiters: [CheckedContinuation<Void, Never>] = []
  @exclusivity(unchecked) private var spareOutputs: [OutputBuffer] = []
  private let spin = AdaptiveSpin()
  /// What looks up names on the loop, once anything has; see `names`.
  @exclusivity(unchecked) var nameLookups: AnyObject?

  /// The allocator for sessions.
  package let blocks = BlockPool()
  package private(set) lazy var sweep = Sweep(on: self)

  /// The buffer that every socket of the loop reads into, one at a time.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  /// The buffer for decrypted data.
  package let plaintextBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  /// `nil` if the system has no descriptors or memory for the loop.
  init?() {
    uv = .allocate(capacity: 1)
    wake = .allocate(capacity: 1)
    alarm = .allocate(capacity: 1)
    guard ProcessDescriptors.prepare(), uv_loop_init(uv) == 0 else { return nil }
    guard uv_async_init(uv, wake, { _ in }) == 0 else {
      uv_loop_close(uv)
      return nil
    }
    uv_timer_init(uv, alarm)
  }

  deinit {
    readBuffer.deallocate()
    plaintextBuffer.deallocate()
    uv.deallocate()
    wake.deallocate()
    alarm.deallocate()
  }

  @inlinable package var inEventLoop: Bool {
    UInt(bitPattern: LoopOfThread.address) == UInt(bitPattern: ObjectIdentifier(self))
  }

  package func execute(_ work: @escaping @Sendable () -> Void) { run(.closure(work)) }

  /// Adds work. Returns `false` if the loop has ended: then the work does not run and the caller must handle that. Use
  /// `run` for work that must run in any case.
  package func add(_ work: LoopWork) -> Bool {
    if inEventLoop {
      local.append(work)
      return true
    }
    return mailbox.put(work) { uv_async_send(wake) }
  }

  /// Returns when every socket that was closed gently is gone: its peer has read the last bytes, or the time is up.
  package func waitForGracefulCloses() async {
    await withCheckedContinuation { continuation in
      let isWaiting = add(
        .closure {
          guard self.lingeringSockets > 0 else { return continuation.resume() }
          self.lingeringWaiters.append(continuation)
        }
      )
      if !isWaiting { continuation.resume() }
    }
  }

  /// Stops the loop's thread when nothing is open on it.
  func stop() {
    execute { self.isStopping = true }
  }

  /// When the next event is likely to occur.
  package enum Expectation: Int {
    /// At any time.
    case none
    /// Calls are in progress, so it may come soon.
    case likely
    /// Calls are in progress, and the user asked for low latency.
    case urgent
  }

  /// Records that calls were in progress in this turn.
  package func expect(_ expectation: Expectation) {
    if expectation.rawValue > self.expectation.rawValue { self.expectation = expectation }
  }

  /// Requests a flush at the end of this turn or, if the connection has had its share of it, of the next one.
  package func markDirty(_ connection: any Flushable, nextTurn: Bool = false) {
    if nextTurn { flushes.postpone(connection) } else { flushes.add(connection) }
  }
}

extension Loop {
  /// The version of libuv.
  package static var libraryVersion: String { String(cString: uv_version_string()) }
}

// MARK: - The thread

extension Loop {
  /// The body of the loop's thread.
  func run() {
    LoopThread.enter(self)
    // Until it waits for the first time, it works.
    activity.wake()
    while true {
      runTurn()
      let mayEnd = isDone && local.isEmpty
      if mayEnd, mailbox.close() { break }
      if hasWork || flushes.hasPostponed || mayEnd { runEvents(UV_RUN_NOWAIT) } else { waitForEvents() }
    }
    activity.wait()
    closeHandles()
    threadHasEnded = true
    // The timers' actions may refer to the loop.
    _ = timers.takeAll()
    nameLookups = nil
    runLateWork()
    LoopThread.leave()
  }

  /// Whether jobs or flushes are left for later.
  var hasWork: Bool { !local.isEmpty || !flushes.isEmpty }

  /// The loop should end, and nothing is open on it that would wake it again.
  private var isDone: Bool { isStopping && openHandles == 0 }

  private func runTurn() {
    let end = uv_hrtime().addingSaturated(work.limit)
    work.begin(until: end)
    flushes.beginTurn()
    repeat {
      activity.enter(.timers)
      runTimers()
      activity.enter(.jobs)
      runWork(until: min(end, preciseDeadline ?? end))
      activity.enter(.flushes)
      flushDirty()
    } while hasWork && !work.isOver && uv_hrtime() < end
  }

  /// Runs all work received after the loop's end.
  func runLateWork() {
    work.begin(until: .max)
    repeat { runWork(until: .max) } while !local.isEmpty || late.take(into: &local)
  }

  /// Runs all work, including new work that this creates. Work left at the time limit comes first in the next turn.
  private func runWork(until end: UInt64) {
    repeat {
      takeMail()
      if local.isEmpty { return }
      swap(&local, &running)
      var index = 0
      while index < running.count {
        perform(running[index])
        index += 1
        if work.isOver || TurnWork.looks(after: index, of: running.count) && uv_hrtime() >= end { break }
      }
      if index < running.count { local.insert(contentsOf: running[index...], at: 0) }
      running.removeAll(keepingCapacity: running.count <= 1024)
    } while !work.isOver && uv_hrtime() < end
  }

  /// Work that keeps creating work must not starve work from other threads.
  private func takeMail() {
    guard mailbox.isFilled else { return }
    if local.isEmpty { return mailbox.take(into: &local) }
    var mail: [LoopWork] = []
    mailbox.take(into: &mail)
    local += mail
  }

  private func perform(_ work: LoopWork) {
    switch work {
    case .job(let job):
      // Not as a serial executor, though the loop is one: a task would then have to leave it, through the queue, for
      // each `nonisolated` function that it calls and for each return, which takes a fifth of a small call. An actor on
      // the loop is isolated nevertheless; see `isIsolatingCurrentContext`.
      activity.begin(TaskMarks.address(of: job))
      job.runSynchronously(on: asUnownedTaskExecutor())
      activity.begin(0)
    case .task(let task): task.runOnLoop()
    case .closure(let closure): closure()
    }
  }

  private func flushDirty() {
    guard !flushes.isEmpty else { return }
    let flushing = flushes.take()
    for connection in flushing { connection.flush() }
    flushes.recycle(flushing)
  }

  private func waitForEvents() {
    if pollUntilPreciseDeadline() || spinForEvents() { return }
    armAlarm()
    guard mailbox.fallAsleep() else { return runEvents(UV_RUN_NOWAIT) }
    runEvents(UV_RUN_ONCE)
    mailbox.wakeUp()
  }

  private func runEvents(_ mode: uv_run_mode) {
    turn += 1
    work.begin()
    activity.enter(.events)
    activity.wait()
    uv_run(uv, mode)
    eventDidCome()
  }

  /// Called first by what handles an event.
  @inline(__always)
  func eventDidCome() { activity.wake() }

  /// The time by the system's clock when the next timer may be due, if any timer is precise.
  private var preciseDeadline: UInt64? {
    guard timers.hasPrecise, let earliest = timers.earliest else { return nil }
    return earliest - min(earliest, clockOffset)
  }

  /// How long the loop polls before a precise timer is due, because blocking and being woken takes some 30 µs.
  static let preciseWait: UInt64 = 50_000

  /// Returns `true` if a precise timer is due or an event occurred before.
  private func pollUntilPreciseDeadline() -> Bool {
    guard let deadline = preciseDeadline, deadline <= uv_hrtime() + Self.preciseWait else { return false }
    repeat {
      if runReadyEvents() { break }
    } while uv_hrtime() < deadline
    return true
  }

  /// Returns `true` if an event occurred soon.
  private func spinForEvents() -> Bool {
    let expected = expectation
    expectation = .none
    switch expected {
    case .none: return false
    case .likely: return spin.poll(until: runReadyEvents)
    case .urgent: return spin.pollAlways(until: runReadyEvents)
    }
  }

  /// Returns whether the events created work, or ended the loop.
  private func runReadyEvents() -> Bool {
    runEvents(UV_RUN_NOWAIT)
    return hasWork || mailbox.isFilled || isDone
  }

  private func closeHandles() {
    preciseAlarm?.close()
    preciseAlarm = nil
    uv_close(UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self), nil)
    uv_close(UnsafeMutableRawPointer(alarm).assumingMemoryBound(to: uv_handle_t.self), nil)
    uv_run(uv, UV_RUN_DEFAULT)
    uv_loop_close(uv)
  }
}

// MARK: - Timers

extension Loop {
  /// The time in nanoseconds by the clock of this loop's timers.
  package var now: UInt64 { uv_hrtime() + clockOffset }

  /// The time when the loop last woke up, in milliseconds precision; it does not read the clock.
  package var turnTime: UInt64 {
    // libuv's loop no longer exists.
    hasEnded ? now : uv_now(uv) * 1_000_000 + clockOffset
  }

  /// Never fires once the loop has ended.
  package func schedule(_ timer: LoopTimer, after delay: Duration) {
    guard !hasEnded else { return }
    // The current alarm may be too coarse.
    if timer.isPrecise, !timers.hasPrecise { alarmTime = .max }
    timers.schedule(timer, at: now.addingSaturated(delay.nanoseconds))
  }

  package func cancel(_ timer: LoopTimer) {
    timers.cancel(timer)
  }

  /// Moves the loop's clock forward, for tests: timers that become due run in this turn.
  package func advanceClock(by duration: Duration) {
    advance.wrappingAdd(duration.nanoseconds, ordering: .relaxed)
    // The alarm was set by the old time.
    alarmTime = .max
  }

  /// Runs the timers that are due.
  package func runTimers() {
    guard timers.earliest != nil else { return }
    let now = now
    while let timer = timers.popExpired(at: now) { timer.action() }
  }

  private func armAlarm() {
    guard let earliest = timers.earliest, earliest != alarmTime else { return }
    alarmTime = earliest
    let now = now
    if timers.hasPrecise {
      // It goes off early, and the precise timer may be cancelled by then.
      if preciseAlarm == nil {
        preciseAlarm = AlarmDescriptor(on: self) { [weak self] in self?.alarmTime = .max }
      }
      let wait = earliest > now ? earliest - now : 0
      if let preciseAlarm { return preciseAlarm.set(after: wait - min(wait, Self.preciseWait)) }
    }
    let milliseconds = earliest > now ? (earliest - now - 1) / 1_000_000 + 1 : 0
    uv_update_time(uv)
    uv_timer_start(
      alarm,
      { timer in
        LoopThread.current?.alarmTime = .max
        // It may fire before the poll begins, which would then never return.
        if let timer { uv_stop(timer.pointee.loop) }
      },
      milliseconds,
      0
    )
  }
}

// MARK: - Output

extension Loop {
  /// One buffer for plaintext and one for ciphertext.
  private static let sparesKept = 2

  /// A buffer for the output of one connection, which returns it after the write or keeps it until everything is
  /// written.
  package func takeOutput() -> OutputBuffer {
    spareOutputs.popLast() ?? OutputBuffer()
  }

  package func giveBack(_ output: OutputBuffer) {
    output.reset()
    if spareOutputs.count < Self.sparesKept { spareOutputs.append(output) }
  }
}
