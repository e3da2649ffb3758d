import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite(.timeLimit(.minutes(5))) struct ChannelIdlenessTests {
  @Test func theTimeoutCountsFromTheLastUse() {
    var idleness = ChannelIdleness()
    let isFirst = idleness.useEnded(at: 1_000_000_000)
    #expect(isFirst)
    #expect(!idleness.isDue(after: .seconds(2), at: 2_999_999_999))
    #expect(idleness.isDue(after: .seconds(2), at: 3_000_000_000))
    let waitsForNothing = idleness.useEnded(at: 2_000_000_000)
    #expect(waitsForNothing && !idleness.isDue(after: .seconds(2), at: 3_000_000_000))
  }

  /// Its state, and whether its timer has fired.
  private final class Channel: @unchecked Sendable {
    // Sendable because it is only used on the loop.
    var idleness = ChannelIdleness()
    var hasFired = false

    func wait(on loop: Loop) {
      let timer = LoopTimer {
        self.idleness.timerFired()
        self.hasFired = true
      }
      idleness.wait(timer, timeout: .seconds(60), on: loop)
    }
  }

  @Test func oneTimerWaitsAtATime() async throws {
    let group = try LoopGroup()
    let (loop, channel) = (group.loops[0], Channel())
    await loop.onLoop {
      let waitsForNothing = channel.idleness.useEnded(at: loop.now)
      channel.wait(on: loop)
      let waitsAgain = channel.idleness.useEnded(at: loop.now)
      #expect(waitsForNothing && !waitsAgain)
    }
    await loop.advance(by: .seconds(61))
    await loop.onLoop { #expect(channel.hasFired && channel.idleness.timer == nil) }
  }

  @Test func aChannelThatIsClosedDoesNotWait() async throws {
    let group = try LoopGroup()
    let (loop, channel) = (group.loops[0], Channel())
    await loop.onLoop {
      _ = channel.idleness.useEnded(at: loop.now)
      channel.wait(on: loop)
      channel.idleness.cancel(on: loop)
    }
    await loop.advance(by: .seconds(61))
    await loop.onLoop { #expect(!channel.hasFired) }
  }
}
