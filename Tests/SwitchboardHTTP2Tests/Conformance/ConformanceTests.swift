import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardHTTP2

/// What h2spec asks of an HTTP/2 server, asked of ours: with gRPC's requests and with any other, each frame
/// by itself and all at once.
@Suite(.mayBlock, .timeLimit(.minutes(1))) struct ConformanceTests {
  private static let cases =
    ConformanceCase.general + ConformanceCase.frames + ConformanceCase.streams + ConformanceCase.settings
    + ConformanceCase.flowControl + ConformanceCase.continuation + ConformanceCase.messages
    + ConformanceCase.compression

  @Test(arguments: cases) func theServerDoesAsTheStandardSays(_ sample: ConformanceCase) async throws {
    var options = ServerOptions()
    // The scripts ask for signs of life far more often than a client may.
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
      // Whatever was done to one connection, others go on.
      #expect(try await pair.get() == [1, 2, 3])
    }
  }
}
