import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardHTTP2

/// The tests of h2spec for an HTTP/2 server: with gRPC requests and with others, one frame at a time and all at once.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConformanceTests {
  private static let cases =
    ConformanceCase.general + ConformanceCase.frames + ConformanceCase.streams + ConformanceCase.settings
    + ConformanceCase.flowControl + ConformanceCase.continuation + ConformanceCase.messages
    + ConformanceCase.compression

  @Test(arguments: cases) func theServerFollowsTheStandard(_ sample: ConformanceCase) async throws {
    var options = ServerOptions()
    // The scripts ping far more often than a client may.
    options.minimumPingInterval = .zero
    try await TestPair.with(server: options) { pair async throws in
      for request in sample.requests {
        for pace in Dialogue.Pace.allCases {
          let dialogue = try Dialogue(pair.address, request, pace, greets: sample.greets)
          sample.script(dialogue)
          if let complaint = sample.expected.complaint(after: dialogue) {
            Issue.record("\(sample.testDescription), \(request), \(pace): \(complaint)")
          }
        }
      }
      // Whatever happened to one connection, others still work.
      #expect(try await pair.get() == [1, 2, 3])
    }
  }
}
