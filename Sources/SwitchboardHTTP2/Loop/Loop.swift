import CLibuv
import SwitchboardCall

/// An event loop: a libuv loop on a thread of its own, which is also a Swift executor.
///
/// One turn of it: wait for the sockets, read them, run the jobs that this made ready, then write what
/// those jobs had to say, in one write for each connection.
package final class Loop: EventLoop, @unchecked Sendable {
  // Sendable holds because everything but `mailbox`, `late` and `wake` is touched only on the loop's own thread,
  // or by the one that stands in for it after its end, which the thread-local says; `mailbox` and `late` lock, and libuv
  // allows `wake` to be sent from any thread.
  // Unchecked exclusivity holds for the same reason: no two accesses can overlap in time, and no accessor
  // calls out while it holds one.

  let uv: UnsafeMutablePointer<uv_loop_t>
  private let wake: UnsafeMutablePointer<uv_async_t>
  private let alarm: UnsafeMutablePointer<uv_timer_t>
  private let mailbox = Mailbox()
  /// What is given to it after its end.
  let late = LateWork()
  /// Its thread has ended: there are no sockets and no timers any more. On the loop, or in its place.
  @exclusivity(unchecked) private(set) var hasEnded = false

  @exclusivity(unchecked) private var local: [LoopWork] = []
  @exclusivity(unchecked) private var running: [LoopWork] = []
  @exclusivity(unchecked) private var dirty: [any Flushable] = []
  @exclusivity(unchecked) private var timers = TimerHeap()
  @exclusivity(unchecked) private var alarmTime: UInt64 = .max
  @exclusivity(unchecked) private var isStopping = false
  @exclusivity(unchecked) private var clockOffset: UInt64 = 0
  /// Counts the looks at what is ready to be read.
  @exclusivity(unchecked) private(set) var turn: UInt64 = 0
  /// What the next wait may be for.
  @exclusivity(unchecked) private var expectation = Expectation.none
  /// How many sockets and listeners are open: a loop stops only when there is none.
  @exclusivity(unchecked) var openHandles = 0
  /// Sockets that wait for their peers to read the last words.
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

  /// Where its sessions have their memory from.
  let blocks = BlockPool()

  /// Where every socket of the loop reads into, one at a time.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  /// What TLS makes of that.
  let plaintextBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  /// `nil` when the system has no descriptors or memory for it.
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

  package var inEventLoop: Bool { LoopThread.isCurrent(self) }

  package func execute(_ work: @escaping @Sendable () -> Void) { run(.closure(work)) }

  /// `false` when the loop has ended: the work is not run, and who gave it has to do something about that. `run` takes
  /// work that has to be done all the same.
  func add(_ work: LoopWork) -> Bool {
    if inEventLoop {
      local.append(work)
      return true
    }
    return mailbox.put(work) { uv_async_send(wake) }
  }

  /// Returns once every socket that was closed gently is gone: its peer has read the last words, or had its time.
  func waitForLastWords() async {
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

  /// Stops the loop's thread once nothing is open on it.
  func stop() {
    execute { self.isStopping = true }
  }

  /// What a loop knows of the next event.
  enum Expectation: Int {
    /// It may take any time.
    case none
    /// Calls are going on, so it may come soon.
    case soon
    /// The same, and someone has asked for low latency.
    case urgent
  }

  /// Says that calls went on in this turn.
  func expect(_ expectation: Expectation) {
    if expectation.rawValue > self.expectation.rawValue { self.expectation = expectation }
  }

  /// Asks for a flush at the end of this turn.
  func markDirty(_ connection: any Flushable) {
    dirty.append(connection)
  }
}

/// Something with bytes to write when a turn ends.
protocol Flushable: AnyObject {
  func flush()
}

// MARK: - The thread

extension Loop {
  /// The body of the loop's thread.
  func run() {
    LoopThread.enter(self)
    while true {
      runTurn()
      let mayEnd = isDone && local.isEmpty
      if mayEnd, mailbox.close() { break }
      if hasWork || mayEnd { runEvents(UV_RUN_NOWAIT) } else { waitForEvents() }
    }
    closeHandles()
    hasEnded = true
    runLateWork()
    LoopThread.leave()
  }

  private var hasWork: Bool { !local.isEmpty || !dirty.isEmpty }

  /// It is to end, and nothing is open on it that would wake it once more.
  private var isDone: Bool { isStopping && openHandles == 0 }

  /// How long work may go on, in nanoseconds, before the loop looks at its sockets again.
  private static let turnLimit: UInt64 = 1_000_000

  private func runTurn() {
    let end = uv_hrtime() + Self.turnLimit
    repeat {
      runTimers()
      runWork(until: end)
      flushDirty()
    } while hasWork && uv_hrtime() < end
  }

  /// Runs all that was given to it after its end.
  func runLateWork() {
    repeat { runWork(until: .max) } while !local.isEmpty || late.take(into: &local)
  }

  /// Runs the work that is there, and what that makes. What is left at the end comes first in the next turn.
  private func runWork(until end: UInt64) {
    repeat {
      takeMail()
      if local.isEmpty { return }
      swap(&local, &running)
      var index = 0
      while index < running.count {
        perform(running[index])
        index += 1
        if index % 16 == 0, uv_hrtime() >= end { break }
      }
      if index < running.count { local.insert(contentsOf: running[index...], at: 0) }
      running.removeAll(keepingCapacity: running.count <= 1024)
    } while uv_hrtime() < end
  }

  /// Work that always makes more must not keep out what comes from other threads.
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
      // Not as the serial executor that the loop is too: a task would then have to leave it, through the queue, for each
      // `nonisolated` function that it calls and for each return, which takes a fifth of a small call. An actor on the loop is
      // isolated all the same, as `isIsolatingCurrentContext` says.
      job.runSynchronously(on: asUnownedTaskExecutor())
    case .task(let task): task.runOnLoop()
    case .closure(let closure): closure()
    }
  }

  private func flushDirty() {
    guard !dirty.isEmpty else { return }
    var flushing: [any Flushable] = []
    swap(&dirty, &flushing)
    for connection in flushing { connection.flush() }
    flushing.removeAll(keepingCapacity: true)
    if dirty.isEmpty { swap(&dirty, &flushing) }
  }

  private func waitForEvents() {
    if lookForEvents() { return }
    armAlarm()
    guard mailbox.fallAsleep() else { return runEvents(UV_RUN_NOWAIT) }
    runEvents(UV_RUN_ONCE)
    mailbox.wakeUp()
  }

  private func runEvents(_ mode: uv_run_mode) {
    turn += 1
    uv_run(uv, mode)
  }

  /// `true` when something came up soon.
  private func lookForEvents() -> Bool {
    let expected = expectation
    expectation = .none
    switch expected {
    case .none: return false
    case .soon: return spin.look(for: runReadyEvents)
    case .urgent: return spin.insist(on: runReadyEvents)
    }
  }

  /// Whether that left something to do, if only to end.
  private func runReadyEvents() -> Bool {
    runEvents(UV_RUN_NOWAIT)
    return hasWork || mailbox.isFilled || isDone
  }

  private func closeHandles() {
    uv_close(UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self), nil)
    uv_close(UnsafeMutableRawPointer(alarm).assumingMemoryBound(to: uv_handle_t.self), nil)
    uv_run(uv, UV_RUN_DEFAULT)
    uv_loop_close(uv)
  }
}

// MARK: - Timers

extension Loop {
  /// Nanoseconds on a clock that only this loop's timers use.
  var now: UInt64 { uv_hrtime() + clockOffset }

  /// The same as it was when the loop last woke up, to the millisecond: it costs no look at the clock.
  var turnTime: UInt64 {
    // What libuv knows is gone with its loop.
    hasEnded ? now : uv_now(uv) * 1_000_000 + clockOffset
  }

  /// Never acts once the loop has ended, which has no time left.
  func schedule(_ timer: LoopTimer, after delay: Duration) {
    guard !hasEnded else { return }
    timers.schedule(timer, at: now.addingSaturated(delay.nanoseconds))
  }

  func cancel(_ timer: LoopTimer) {
    timers.cancel(timer)
  }

  /// Moves the loop's clock forward, for tests: what falls due runs in this turn.
  package func advanceClock(by duration: Duration) {
    clockOffset += duration.nanoseconds
    // The alarm was set by the clock as it was.
    alarmTime = .max
  }

  private func runTimers() {
    guard timers.earliest != nil else { return }
    let now = now
    while let timer = timers.popExpired(at: now) { timer.action() }
  }

  private func armAlarm() {
    guard let earliest = timers.earliest, earliest != alarmTime else { return }
    alarmTime = earliest
    let now = now
    let milliseconds = earliest > now ? (earliest - now - 1) / 1_000_000 + 1 : 0
    uv_update_time(uv)
    uv_timer_start(
      alarm,
      { timer in
        LoopThread.current?.alarmTime = .max
        // It may ring before the wait for sockets has begun, which must then not be without end.
        if let timer { uv_stop(timer.pointee.loop) }
      },
      milliseconds,
      0
    )
  }
}

// MARK: - Output

extension Loop {
  /// One buffer for plaintext, and one for what TLS makes of it.
  private static let sparesKept = 2

  /// A buffer that connections write into in turn; whoever cannot write all of it keeps it.
  func takeOutput() -> OutputBuffer {
    spareOutputs.popLast() ?? OutputBuffer()
  }

  func giveBack(_ output: OutputBuffer) {
    output.reset()
    if spareOutputs.count < Self.sparesKept { spareOutputs.append(output) }
  }
}

// MARK: - The executor

extension Loop {
  /// Runs a Swift task's next step on the loop; in its place, in the global pool, if the loop has ended.
  package func enqueue(_ job: consuming ExecutorJob) { run(.job(UnownedJob(job))) }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The loop as what a task may prefer.
  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  package func isIsolatingCurrentContext() -> Bool? { inEventLoop }

  package func checkIsolated() {
    precondition(inEventLoop, "isolated to an event loop, but not on its thread")
  }
}
