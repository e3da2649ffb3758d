import Synchronization
import Testing

@testable import SwitchboardHTTP2

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
    var looks = 0
    let found = spin.poll {
      looks += 1
      return looks == 3
    }
    #expect(found)
    #expect(looks == 3)
  }

  @Test func anUnsuccessfulSpinEndsAtItsLimit() {
    var looks = 0
    let found = spin.poll {
      looks += 1
      return false
    }
    #expect(!found)
    #expect(looks == 4)
  }

  @Test func fewWaitsSpinAfterUnsuccessfulSpins() {
    let spin = spin
    for _ in 0..<AdaptiveSpin.firstTrust { _ = spin.poll { false } }
    var waitsWithALook = 0
    for _ in 0..<AdaptiveSpin.interval * 3 {
      var looked = false
      _ = spin.poll {
        looked = true
        return false
      }
      if looked { waitsWithALook += 1 }
    }
    #expect(waitsWithALook == 3)
  }

  @Test func aSuccessfulSpinIsFollowedByAnother() {
    let spin = spin
    for _ in 0..<AdaptiveSpin.firstTrust { _ = spin.poll { false } }
    var finds = 0
    for _ in 0..<AdaptiveSpin.interval where spin.poll(until: { true }) { finds += 1 }
    #expect(finds == 1)
    #expect(spin.poll { true })
  }

  @Test func pollingAlwaysIgnoresEarlierFailures() {
    let spin = spin
    for _ in 0..<AdaptiveSpin.firstTrust { _ = spin.poll { false } }
    #expect(!spin.poll { true })
    #expect(spin.pollAlways { true })
  }
}

@Suite struct CallerPatienceTests {
  private let callers = CallerSpin(AdaptiveSpin())

  private func looks(urgent: Bool = false) -> Bool {
    var looked = false
    callers.poll(urgent: urgent) {
      looked = true
      return true
    }
    return looked
  }

  @Test func aRepeatedCallerSpinsButNotEveryTime() {
    var count = 0
    for _ in 0..<CallerSpin.waitsInARow * 2 + 1 where looks() { count += 1 }
    // Not the first of each row, which follows another caller, and not the last.
    #expect(count == CallerSpin.waitsInARow * 2 - 2)
  }

  @Test(arguments: [false, true]) func callersThatAlternateDoNotSpin(urgent: Bool) async {
    for _ in 0..<8 {
      #expect(await Task { looks(urgent: urgent) }.value == false)
      #expect(!looks(urgent: urgent))
    }
  }
}
