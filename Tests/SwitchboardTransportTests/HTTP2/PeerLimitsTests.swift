import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct PeerLimitsTests {
  @Test func headersAreLimitedByThePeerAndByNghttp2() {
    #expect(PeerLimits(headerList: 100, streams: 3).headerList == 100)
    #expect(PeerLimits(headerList: .max, streams: 3).headerList == SessionSettings.largestSentHeaders)
    #expect(PeerLimits(headerList: 100, streams: 3).streams == 3 && PeerLimits.unknown.streams == 0)
  }
}
