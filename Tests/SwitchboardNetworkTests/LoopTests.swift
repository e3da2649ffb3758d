import Glibc
import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork

@Suite(.timeLimit(.minutes(5))) struct LoopTests {
  @Test func workThatEnqueuesMoreDoesNotStarveOtherThreads() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let isOver = Locked(false)
    @Sendable func again() {
      if !isOver.withLock({ $0 }) { loop.execute(again) }
    }
    loop.execute(again)
    // From this thread, while the loop always has work of its own.
    loop.execute { isOver.withLock { $0 = true } }
    while !Task.isCancelled, !isOver.withLock({ $0 }) { await Task.yield() }
    #expect(isOver.withLock { $0 })
    isOver.withLock { $0 = true }
  }

  @Test func aLoopEndsIfPollingClosesItsLastSocket() async throws {
    weak var ended: Loop?
    do {
      let loop = try #require(Loop())
      ended = loop
      var pair: [Int32] = [0, 0]
      try #require(
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
      )
      close(pair[0])
      let descriptor = pair[1]
      loop.execute {
        // The first poll closes the socket for good; afterwards there is nothing to wait for.
        Socket.adopt(descriptor, .unix(path: ""), on: loop)?.close()
        loop.expect(.urgent)
        loop.stop()
      }
      #expect(DetachedThread.start { loop.run() })
    }
    // Querying the loop itself would wake it.
    while !Task.isCancelled, ended != nil { await Task.yield() }
    #expect(ended == nil)
  }

  @Test func anEndedLoopReleasesItsTimers() async throws {
    weak var ended: Loop?
    do {
      let loop = try #require(Loop())
      ended = loop
      loop.execute {
        for _ in 0..<3 { loop.schedule(LoopTimer { loop.stop() }, after: .seconds(3600)) }
        loop.stop()
      }
      #expect(DetachedThread.start { loop.run() })
    }
    // Querying the loop itself would wake it.
    while !Task.isCancelled, ended != nil { await Task.yield() }
    #expect(ended == nil)
  }

  /// Owners cancel their timers whenever they end.
  @Test func timersCanBeCancelledAfterTheirLoopEnds() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let cancel: @Sendable () -> Void = await loop.onLoop {
      nonisolated(unsafe) let timers = (0..<3).map { _ in LoopTimer {} }
      for timer in timers { loop.schedule(timer, after: .seconds(3600)) }
      return { for timer in timers { loop.cancel(timer) } }
    }
    group.shutDown()
    while !Task.isCancelled, await !loop.onLoop({ loop.hasEnded }) { await Task.yield() }
    await loop.onLoop(cancel)
  }

  @Test func sleepersWakeByTheLoopsClock() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let sleeper = Task { try await loop.sleep(for: .seconds(3600)) }
    await loop.until { loop.openHandles == 1 }
    await loop.advance(by: .seconds(3601))
    try await sleeper.value
    #expect(await loop.onLoop { loop.openHandles } == 0)
  }

  /// By the system's clock, since the alarm knows no other; no bound for how late, which is the machine's affair.
  @Test func preciseTimersAreNotEarly() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let begin = ContinuousClock.now
    try await withThrowingTaskGroup { sleepers in
      for (milliseconds, isPrecise) in [(16, true), (2, true), (9, false), (23, true)] {
        sleepers.addTask(executorPreference: loop) {
          // The loop's coarse timers go off with the precise ones.
          try await loop.sleep(for: .milliseconds(milliseconds), isPrecise: isPrecise)
          #expect(.now - begin >= .milliseconds(milliseconds))
        }
      }
      try await sleepers.waitForAll()
    }
    #expect(await loop.onLoop { loop.openHandles } == 0)
  }

  /// The loop's alarm was set for it while a precise timer waited too, and goes off a little early.
  @Test func aTimerIsPunctualAfterAPreciseOneWasCancelled() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    for _ in 0..<20 {
      let isDone = Locked(false)
      nonisolated(unsafe) let precise = LoopTimer(isPrecise: true) {}
      await loop.onLoop {
        loop.schedule(precise, after: .seconds(3600))
        loop.schedule(LoopTimer { isDone.withLock { $0 = true } }, after: .milliseconds(20))
      }
      // When the precise alarm is set, and by nothing that sets another.
      await loop.until {
        guard loop.alarmTime != .max else { return false }
        loop.cancel(precise)
        return true
      }
      let limit = ContinuousClock.now + .seconds(10)
      // Querying the loop itself would wake it.
      while !Task.isCancelled, !isDone.withLock({ $0 }), .now < limit { await Task.yield() }
      try #require(isDone.withLock { $0 })
    }
  }

  @Test func aPreciseTimerDoesNotKeepALoopAlive() async throws {
    weak var ended: Loop?
    do {
      let loop = try #require(Loop())
      ended = loop
      loop.execute {
        loop.schedule(LoopTimer(isPrecise: true) {}, after: .seconds(3600))
        loop.schedule(LoopTimer(isPrecise: true) { loop.stop() }, after: .milliseconds(1))
      }
      #expect(DetachedThread.start { loop.run() })
    }
    // Querying the loop itself would wake it.
    while !Task.isCancelled, ended != nil { await Task.yield() }
    #expect(ended == nil)
  }

  @Test func preciseSleepersWakeByTheLoopsClock() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let sleeper = Task { try await loop.sleep(for: .seconds(3600), isPrecise: true) }
    await loop.until { loop.openHandles == 1 }
    await loop.advance(by: .seconds(3601))
    try await sleeper.value
    #expect(await loop.onLoop { loop.openHandles } == 0)
  }

  @Test func aCancelledSleeperWakes() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let sleeper = Task { try await loop.sleep(for: .seconds(3600)) }
    await loop.until { loop.openHandles == 1 }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await loop.sleep(for: .seconds(3600))
    }
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(await loop.onLoop { loop.openHandles } == 0)
  }

  /// No task waits forever for a loop that has ended, and no loop ends while a task sleeps on it.
  @Test func sleepingOnALoopThatHasEndedFails() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let sleeper = Task { try await loop.sleep(for: .seconds(3600)) }
    await loop.until { loop.openHandles == 1 }
    group.shutDown()
    loop.execute { loop.advanceClock(by: .seconds(3601)) }
    try await sleeper.value
    // It ends between two sleeps.
    while !Task.isCancelled, (try? await loop.sleep(for: .zero)) != nil {}
    await #expect(throws: CancellationError.self) { try await loop.sleep(for: .zero) }
  }
}
