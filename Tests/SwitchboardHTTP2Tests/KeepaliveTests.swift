import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

@Suite struct KeepaliveTests {
  private let second: UInt64 = 1_000_000_000

  @Test func aSilentPeerIsAskedAndThenGivenUp() {
    var keepalive = Keepalive(interval: .seconds(10), timeout: .seconds(2))
    #expect(keepalive.look(now: 4 * second, lastRead: 0, isIdle: false) == .wait(6 * second))
    #expect(keepalive.look(now: 10 * second, lastRead: 0, isIdle: false) == .ping(2 * second))
    #expect(keepalive.look(now: 12 * second, lastRead: 0, isIdle: false) == .close)
  }

  @Test func anAnswerStartsItAnew() {
    var keepalive = Keepalive(interval: .seconds(10), timeout: .seconds(2))
    #expect(keepalive.look(now: 10 * second, lastRead: 0, isIdle: false) == .ping(2 * second))
    #expect(keepalive.look(now: 12 * second, lastRead: 11 * second, isIdle: false) == .wait(9 * second))
  }

  @Test func anIdleConnectionIsLeftAlone() {
    var keepalive = Keepalive(interval: .seconds(10), timeout: .seconds(2))
    #expect(keepalive.look(now: 50 * second, lastRead: 0, isIdle: true) == .wait(10 * second))
  }

  @Test func pingsWithoutCallsAreCounted() {
    var policy = PingPolicy(minimumInterval: .seconds(300))
    let allowed = (0..<5).map { policy.allowsPing(at: UInt64($0) * second) }
    #expect(allowed == [true, true, true, false, false])
    policy.sawTraffic()
    let afterTraffic = policy.allowsPing(at: 6 * second)
    #expect(afterTraffic)
  }

  @Test func pingsFarApartAreFine() {
    var policy = PingPolicy(minimumInterval: .seconds(300))
    for index in 0..<20 as Range<UInt64> {
      let isAllowed = policy.allowsPing(at: index * 300 * second)
      #expect(isAllowed)
    }
  }
}
