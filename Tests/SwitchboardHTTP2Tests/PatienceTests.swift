import Synchronization
import Testing

@testable import SwitchboardHTTP2

/// A clock that goes on by a step whenever it is read.
private final class SteppingClock: Sendable {
  private let time = Atomic<UInt64>(0)
  private let step: UInt64

  init(step: UInt64) {
    self.step = step
  }

  func read() -> UInt64 { time.wrappingAdd(step, ordering: .relaxed).newValue }
}

@Suite struct PatienceTests {
  /// Each look may look four times.
  private let clock = SteppingClock(step: Patience.limit / 4)
  private var patience: Patience { Patience { [clock] in clock.read() } }

  @Test func aLookEndsWhenWhatItIsForIsThere() {
    var looks = 0
    let found = patience.look {
      looks += 1
      return looks == 3
    }
    #expect(found)
    #expect(looks == 3)
  }

  @Test func aLookInVainEndsInTime() {
    var looks = 0
    let found = patience.look {
      looks += 1
      return false
    }
    #expect(!found)
    #expect(looks == 4)
  }

  @Test func looksInVainAreGivenUpButForOneInManyWaits() {
    let patience = patience
    for _ in 0..<Patience.firstTrust { _ = patience.look { false } }
    var waitsWithALook = 0
    for _ in 0..<Patience.interval * 3 {
      var looked = false
      _ = patience.look {
        looked = true
        return false
      }
      if looked { waitsWithALook += 1 }
    }
    #expect(waitsWithALook == 3)
  }

  @Test func aLookThatWasWorthWhileIsFollowedByAnother() {
    let patience = patience
    for _ in 0..<Patience.firstTrust { _ = patience.look { false } }
    var finds = 0
    for _ in 0..<Patience.interval where patience.look(for: { true }) { finds += 1 }
    #expect(finds == 1)
    #expect(patience.look { true })
  }

  @Test func insistingNeedsNoTrust() {
    let patience = patience
    for _ in 0..<Patience.firstTrust { _ = patience.look { false } }
    #expect(!patience.look { true })
    #expect(patience.insist { true })
  }
}

@Suite struct CallerPatienceTests {
  private let callers = CallerPatience(Patience())

  private func looks(urgent: Bool = false) -> Bool {
    var looked = false
    callers.look(urgent: urgent) {
      looked = true
      return true
    }
    return looked
  }

  @Test func oneThatCallsAgainAndAgainLooksButNotEveryTime() {
    var count = 0
    for _ in 0..<CallerPatience.waitsInARow * 2 + 1 where looks() { count += 1 }
    // Not the first, which follows on somebody else, and not the last of each row.
    #expect(count == CallerPatience.waitsInARow * 2 - 2)
  }

  @Test(arguments: [false, true]) func callersThatTakeTurnsDoNotLook(urgent: Bool) async {
    for _ in 0..<8 {
      #expect(await Task { looks(urgent: urgent) }.value == false)
      #expect(!looks(urgent: urgent))
    }
  }
}
