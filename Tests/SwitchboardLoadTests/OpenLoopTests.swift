import SwitchboardLoad
import Testing

/// Time in these tests is a number: the server is a function of when a call starts.
struct OpenLoopTests {
  private static let second: UInt64 = 1_000_000_000
  private static let millisecond: UInt64 = 1_000_000

  /// Runs an open loop against a server that takes `service` for a call started at a time, in nanoseconds.
  private static func simulate(
    _ schedule: RateSchedule,
    seconds: UInt64,
    limit: Int = 1_000_000,
    service: (UInt64) -> UInt64
  ) -> LoadTally {
    var loop = OpenLoop(schedule, end: seconds * second, limit: limit)
    var tally = LoadTally()
    var ends = EarliestFirst()
    while !loop.isOver {
      // The next thing that happens: a call is due, or one ends.
      let now = min(loop.next ?? .max, ends.first?.time ?? .max)
      while let (time, call) = ends.first, time <= now {
        ends.removeFirst()
        tally.add(EndedLoadCall(latency: time - call.due), at: time)
        if !call.waited { tally.lateness.add(0) }
        _ = loop.end(at: time)
      }
      while let call = loop.take(at: now) { ends.insert(now + service(now), call) }
      if now >= seconds * second { tally.missed += loop.stop(at: now) }
    }
    tally.length = seconds * second
    return tally
  }

  /// The time that a share of calls does not exceed, of a server that is stopped for the first second of every ten.
  @Test func percentilesOfAPeriodicStallMatchTheory() {
    let tally = Self.simulate(RateSchedule(constant: 1000), seconds: 100) { start in
      let phase = start % (10 * Self.second)
      return (phase < Self.second ? Self.second - phase : 0) + Self.millisecond
    }
    #expect(tally.calls == 100_000)
    // A tenth of the calls comes in a stall, and waits for the rest of it: evenly from nothing to a second.
    let theory: [(percent: Double, seconds: Double)] = [
      (50, 0), (89, 0), (91, 0.1), (95, 0.5), (97, 0.7), (99, 0.9), (99.9, 0.99),
    ]
    for (percent, seconds) in theory {
      let wanted = (seconds + 0.001) * 1e9
      let measured = tally.latency.quantile(percent / 100)
      #expect(abs(measured - wanted) <= wanted * 0.02, "p\(percent)")
    }
    #expect(tally.latency.maximum <= Self.second + Self.millisecond)
  }

  /// The same, if the generator can have only a few calls in progress: waiting for them does not hide the stall.
  @Test func delayedCallsAreTimedFromTheirDueTime() {
    let tally = Self.simulate(RateSchedule(constant: 1000), seconds: 100, limit: 10) { start in
      let phase = start % (10 * Self.second)
      return (phase < Self.second ? Self.second - phase : 0) + Self.millisecond
    }
    #expect(tally.calls == 100_000)
    #expect(tally.missed == 0)
    let median = tally.latency.quantile(0.95)
    #expect(median > 0.5e9 && median < 0.65e9)
    #expect(tally.lateness.count < 92_000)
  }

  @Test func percentilesOfAKnownDistributionAreWithinTwoPercent() {
    var numbers = SeededNumbers(seed: 7)
    var times: [UInt64] = []
    // Mostly fast, and a slow tail.
    for _ in 0..<200_000 {
      let share = Double.random(in: 0..<1, using: &numbers)
      times.append(UInt64(1e6 * (1 + 1 / (1.001 - share))))
    }
    var next = times.makeIterator()
    let tally = Self.simulate(RateSchedule(constant: 2000), seconds: 100) { _ in next.next() ?? 0 }
    let sorted = times.sorted()
    #expect(tally.calls == 200_000)
    for percent in [1, 10, 50, 90, 99, 99.9, 99.99] {
      let exact = Double(sorted[Int((percent / 100 * 200_000).rounded(.up)) - 1])
      let measured = tally.latency.quantile(percent / 100)
      #expect(abs(measured - exact) <= exact * 0.02, "p\(percent)")
    }
  }

  @Test func aServerThatNeverAnswersLeavesCallsMissed() {
    var loop = OpenLoop(RateSchedule(constant: 100), end: 10 * Self.second, limit: 5)
    var started = 0
    while loop.take(at: 10 * Self.second) != nil { started += 1 }
    #expect(started == 5)
    #expect(loop.next == nil)
    #expect(loop.stop(at: 10 * Self.second) == 995)
    for _ in 0..<5 { _ = loop.end(at: 11 * Self.second) }
    #expect(loop.isOver)
  }

  @Test func callsOfTheWarmUpAreNotMissed() {
    let second = Self.second
    for count in 1...3 {
      let missed = (0..<count).map { share in
        var loop = OpenLoop(
          RateSchedule(constant: 100),
          share: share,
          of: count,
          begin: 4 * second,
          end: 10 * second,
          limit: 5
        )
        while loop.take(at: 10 * second) != nil {}
        return loop.stop(at: 10 * second)
      }
      #expect(missed.reduce(0, +) == 600)
    }
    var stopped = OpenLoop(RateSchedule(constant: 100), begin: 4 * second, end: 10 * second, limit: 5)
    #expect(stopped.stop(at: 3 * second) == 0)
  }

  @Test func sharesTogetherMakeTheWhole() {
    let schedule = RateSchedule(from: 10, to: 100, ramp: 5)
    var due: [UInt64] = []
    for share in 0..<3 {
      var loop = OpenLoop(schedule, share: share, of: 3, callLimit: 100, limit: 1000)
      while let call = loop.take(at: .max) {
        #expect(call.index % 3 == UInt64(share))
        due.append(call.due)
      }
    }
    #expect(due.sorted() == (0..<100).map { schedule.due($0) })
  }

  @Test func aRampFollowsItsRate() {
    let schedule = RateSchedule(from: 100, to: 300, ramp: 10)
    // Each second has the calls of the rate in its middle.
    for second in 0..<10 {
      let before = schedule.count(before: UInt64(second) * Self.second)
      let after = schedule.count(before: UInt64(second + 1) * Self.second)
      #expect(abs(Int(after - before) - (110 + 20 * second)) <= 1, "\(second)")
    }
    #expect(schedule.count(before: 20 * Self.second) - schedule.count(before: 10 * Self.second) == 3000)
    for index in stride(from: UInt64(0), to: 5000, by: 7) {
      let due = schedule.due(index)
      #expect(schedule.count(before: due) <= index)
      #expect(schedule.count(before: due + 1) > index)
    }
  }

  @Test func rampsMayStartAtZeroAndGoDown() {
    let up = RateSchedule(from: 0, to: 100, ramp: 2)
    #expect(up.count(before: 2 * Self.second) == 100)
    let down = RateSchedule(from: 100, to: 1, ramp: 2)
    #expect(down.count(before: 2 * Self.second) == 101)
    #expect(down.due(101) >= 2 * Self.second)
    #expect(RateSchedule(constant: .infinity).due(1) == 100)
    #expect(RateSchedule(constant: 0).due(1) == 1000 * Self.second)
  }
}

/// Calls in the order of their ends: a binary heap.
private struct EarliestFirst {
  private var entries: [(time: UInt64, call: OpenLoop.DueCall)] = []

  var first: (time: UInt64, call: OpenLoop.DueCall)? { entries.first }

  mutating func insert(_ time: UInt64, _ call: OpenLoop.DueCall) {
    entries.append((time, call))
    var index = entries.count - 1
    while index > 0, entries[index].time < entries[(index - 1) / 2].time {
      entries.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func removeFirst() {
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var index = 0
    while 2 * index + 1 < entries.count {
      var child = 2 * index + 1
      if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
      guard entries[child].time < entries[index].time else { return }
      entries.swapAt(child, index)
      index = child
    }
  }
}
