import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite(.timeLimit(.minutes(5))) struct ServerCallTimersTests {
  /// The timers of a call, and what has fired.
  private final class Call: @unchecked Sendable {
    // Sendable because it is only used on the loop.
    var timers = ServerCallTimers()
    var fired: [String] = []

    func limitRequest(on loop: Loop) {
      timers.limitRequest(LoopTimer { self.fired.append("request") }, to: .seconds(60), on: loop)
    }

    func limitCall(to limit: Duration, on loop: Loop) {
      timers.limitCall(LoopTimer { self.fired.append("call") }, to: limit, on: loop)
    }
  }

  @Test func aRequestInTimeIsNotLimitedAnyMore() async throws {
    let group = try LoopGroup()
    let (loop, call) = (group.loops[0], Call())
    await loop.onLoop {
      call.limitRequest(on: loop)
      #expect(call.timers.limitsRequest)
      call.timers.stopLimitingRequest(on: loop)
      #expect(!call.timers.limitsRequest)
    }
    await loop.advance(by: .seconds(90))
    #expect(await loop.onLoop { call.fired } == [])
  }

  @Test func bothTimersFireInTheirOrder() async throws {
    let group = try LoopGroup()
    let (loop, call) = (group.loops[0], Call())
    await loop.onLoop {
      call.limitRequest(on: loop)
      call.limitCall(to: .seconds(600), on: loop)
    }
    await loop.advance(by: .seconds(90))
    #expect(await loop.onLoop { call.fired } == ["request"])
    await loop.advance(by: .seconds(600))
    #expect(await loop.onLoop { call.fired } == ["request", "call"])
  }

  @Test func cancelledTimersDoNotFire() async throws {
    let group = try LoopGroup()
    let (loop, call) = (group.loops[0], Call())
    await loop.onLoop {
      call.limitRequest(on: loop)
      call.limitCall(to: .seconds(600), on: loop)
      call.timers.cancel(on: loop)
    }
    await loop.advance(by: .seconds(1000))
    #expect(await loop.onLoop { call.fired } == [])
  }
}
