import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct LinkEstimatorTests {
  private let millisecond: UInt64 = 1_000_000

  /// Lets a sender fill the window in every round trip of a link, and returns the resulting window.
  private func window(after rounds: Int, bandwidth: Int, delay milliseconds: Int, limit: Int) -> (
    Int, pings: Int
  ) {
    var estimator = LinkEstimator(window: 64_000, limit: limit)
    var now: UInt64 = 1
    var pings = 0
    let held = bandwidth / 1000 * milliseconds
    for _ in 0..<rounds {
      // A sender sends a window in each round trip, or as much as the link carries.
      let sent = min(estimator.window, held)
      if estimator.add(sent), estimator.shouldPing(now: now) {
        pings += 1
        _ = estimator.add(sent)
        now += UInt64(milliseconds) * millisecond
        _ = estimator.pingAnswered(now: now)
      } else {
        now += UInt64(milliseconds) * millisecond
      }
    }
    return (estimator.window, pings)
  }

  @Test func growsUntilTheLinkIsTheLimit() {
    // 100 MB/s and 20 ms make 2 MB.
    let (window, _) = window(after: 50, bandwidth: 100_000_000, delay: 20, limit: 16_000_000)
    #expect(window > 2_000_000)
    #expect(window <= 4_000_000)
  }

  @Test func growsToItsLimitAndThenStopsPinging() {
    let (window, pings) = window(after: 500, bandwidth: 1_000_000_000, delay: 20, limit: 1_000_000)
    #expect(window == 1_000_000)
    #expect(pings < 10)
  }

  @Test func measuresAFilledLinkLessAndLess() {
    // 1 MB/s and 10 ms make 10 kB.
    let (window, pings) = window(after: 6000, bandwidth: 1_000_000, delay: 10, limit: 16_000_000)
    #expect(window == 64_000)
    // A minute of traffic.
    #expect(pings < 15)
  }

  @Test func doesNotMeasureWhileNothingArrives() {
    var estimator = LinkEstimator(window: 64_000, limit: 1_000_000)
    let first = estimator.add(100)
    #expect(!first)
    let answered = estimator.pingAnswered(now: 5)
    #expect(answered == nil)
  }

  @Test func doesNotGrowBetweenProcessesOfOneMachine() {
    // 1 GB/s and 1 ms make 1 MB.
    let (window, _) = window(after: 200, bandwidth: 1_000_000_000, delay: 1, limit: 16_000_000)
    #expect(window == 64_000)
  }

  @Test func aFixedWindowIsNeverMeasured() {
    var estimator = LinkEstimator(window: 64_000, limit: 64_000)
    for _ in 0..<100 {
      let isDue = estimator.add(1_000_000)
      #expect(!isDue)
    }
  }
}

@Suite struct InboundAccountTests {
  @Test func creditIsWithheldWhileTooMuchIsUnread() {
    var account = InboundAccount(limit: 100, link: LinkEstimator(window: 1, limit: 1))
    let credits = [60, 40, 50, 7].map { account.hold($0) }
    #expect(credits == [60, 40, 0, 0])
    // 157 are unread; below 100, the remaining 57 are returned at once.
    let released = [50, 10, 90].map { account.release($0) }
    #expect(released == [0, 57, 0])
  }
}
