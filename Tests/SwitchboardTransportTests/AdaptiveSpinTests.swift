import Synchronization
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A clock that advances by a step whenever it is read.
private final class SteppingClock: Sendable {
  private let time = Atomic<UInt64>(0)
  private let step: UInt64

  init(step: UInt64) {
    self.step = step
  }

  func read() -> UInt64 { time.wrappingAdd(step, ordering: .relaxed).newValue }
}

@Suite struct AdaptiveSpinTests {
  /// Each spin may check four times.
  private let clock = SteppingClock(step: AdaptiveSpin.limit / 4)
  private var spin: AdaptiveSpin { AdaptiveSpin { [clock] in clock.read() } }

  @Test func aSpinEndsWhenItsConditionHolds() {
    var polls = 0
    let found = spin.poll {
      polls += 1
      return polls == 3
    }
    #expect(found)
    #expect(polls == 3)
  }

  @Test func anUnsuccessfulSpinEndsAtItsLimit() {
    var polls = 0
    let found = spin.poll {
      polls += 1
      return false
    }
    #expect(!found)
    #expect(polls == 4)
  }

  @Test func fewWaitsSpinAfterUnsuccessfulSpins() {
    let spin = spin
    for _ in 0..<AdaptiveSpin.firstTrust { _ = spin.poll { false } }
    var spinningWaits = 0
    for _ in 0..<AdaptiveSpin.intervals.lowerBound * 3 {
      var polled = false
      _ = spin.poll {
        polled = true
        return false
      }
      if polled { spinningWaits += 1 }
    }
    #expect(spinningWaits == 3)
  }

  @Test func aSuccessfulSpinIsFollowedByAnother() {
    let spin = spin
    for _ in 0..<AdaptiveSpin.firstTrust { _ = spin.poll { false } }
    var finds = 0
    for _ in 0..<AdaptiveSpin.intervals.lowerBound where spin.poll(until: { true }) { finds += 1 }
    #expect(finds == 1)
    #expect(spin.poll { true })
  }

  /// Another thread, or the system, had the core while a spin yielded.
  @Test func anInterruptedSpinEndsTheTrust() {
    let time = Atomic<UInt64>(0)
    let spin = AdaptiveSpin { time.load(ordering: .relaxed) }
    func polls(_ action: () -> Bool) -> Bool {
      var polled = false
      _ = spin.poll {
        polled = true
        return action()
      }
      return polled
    }
    func interrupt() -> Bool {
      time.wrappingAdd(AdaptiveSpin.interruption, ordering: .relaxed)
      return false
    }
    for _ in 0..<8 { #expect(polls { true }) }
    #expect(polls(interrupt))
    // The next interruptions come later each time, up to a limit.
    var waits: [Int] = []
    for _ in 0..<5 {
      var count = 1
      while count < 10_000, !polls(interrupt) { count += 1 }
      waits.append(count)
    }
    #expect(waits.allSatisfy { $0 <= AdaptiveSpin.intervals.upperBound })
    #expect(waits.last == AdaptiveSpin.intervals.upperBound)
    #expect(waits[0] > AdaptiveSpin.intervals.lowerBound)
    // A success allows spinning again, and several make the intervals as short as before.
    while !polls({ true }) {}
    for _ in 0..<8 { #expect(polls { true }) }
    #expect(polls(interrupt))
    var count = 1
    while !polls({ true }) { count += 1 }
    #expect(count <= 4 * AdaptiveSpin.intervals.lowerBound)
  }

  @Test func pollingAlwaysIgnoresEarlierFailures() {
    let spin = spin
    for _ in 0..<AdaptiveSpin.firstTrust { _ = spin.poll { false } }
    #expect(!spin.poll { true })
    #expect(spin.pollAlways { true })
  }
}

@Suite struct CallerSpinTests {
  private let callers = CallerSpin(AdaptiveSpin())

  private func spins(urgent: Bool = false) -> Bool {
    var polled = false
    callers.poll(urgent: urgent) {
      polled = true
      return true
    }
    return polled
  }

  @Test func aRepeatedCallerSpinsButNotEveryTime() {
    var count = 0
    for _ in 0..<CallerSpin.waitsInARow * 2 + 1 where spins() { count += 1 }
    // Not the first of each row, which follows another caller, and not the last.
    #expect(count == CallerSpin.waitsInARow * 2 - 2)
  }

  @Test(arguments: [false, true]) func callersThatAlternateDoNotSpin(urgent: Bool) async {
    for _ in 0..<8 {
      #expect(await Task { spins(urgent: urgent) }.value == false)
      #expect(!spins(urgent: urgent))
    }
  }
}
