import Testing

@testable import SwitchboardNetwork

@Suite struct TimerHeapTests {
  @Test func timersComeDueInOrder() {
    var heap = TimerHeap()
    var fired: [Int] = []
    let timers = (0..<100).map { index in LoopTimer { fired.append(index) } }
    for index in timers.indices.shuffled() { heap.schedule(timers[index], at: UInt64(index)) }
    while let timer = heap.popExpired(at: 49) { timer.action() }
    #expect(fired == Array(0..<50))
    #expect(heap.earliest == 50)
  }

  @Test func aCancelledTimerIsRemoved() {
    var heap = TimerHeap()
    let timers = (0..<64).map { _ in LoopTimer {} }
    for (index, timer) in timers.enumerated() { heap.schedule(timer, at: UInt64(index * 7 % 64)) }
    for timer in timers.dropFirst().shuffled() {
      heap.cancel(timer)
      #expect(!timer.isScheduled)
    }
    #expect(heap.earliest == timers[0].deadline)
    heap.cancel(timers[0])
    heap.cancel(timers[0])
    #expect(heap.earliest == nil)
  }

  @Test func schedulingAgainMovesATimer() {
    var heap = TimerHeap()
    let timer = LoopTimer {}
    heap.schedule(timer, at: 5)
    heap.schedule(timer, at: 9)
    #expect(heap.popExpired(at: 8) == nil)
    #expect(heap.popExpired(at: 9) === timer)
    #expect(heap.earliest == nil)
  }

  @Test func aHeapKnowsWhetherItHasPreciseTimers() {
    var heap = TimerHeap()
    let timers = [LoopTimer(isPrecise: true) {}, LoopTimer {}, LoopTimer(isPrecise: true) {}]
    for (index, timer) in timers.enumerated() { heap.schedule(timer, at: UInt64(index)) }
    heap.schedule(timers[0], at: 7)
    #expect(heap.hasPrecise)
    heap.cancel(timers[0])
    heap.cancel(timers[0])
    #expect(heap.hasPrecise)
    #expect(heap.popExpired(at: 9) === timers[1])
    #expect(heap.popExpired(at: 9) === timers[2])
    #expect(!heap.hasPrecise)
    heap.schedule(timers[0], at: 1)
    _ = heap.takeAll()
    #expect(!heap.hasPrecise)
  }
}
