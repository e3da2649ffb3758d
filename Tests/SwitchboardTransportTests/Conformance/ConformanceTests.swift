import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// The tests of h2spec for an HTTP/2 server: with gRPC requests and with others, one frame at a time and all at once; on a
/// port for gRPC alone, and over TLS on one that also has a page at `/`, whose answers have bodies.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConformanceTests {
  private static let cases =
    ConformanceCase.general + ConformanceCase.frames + ConformanceCase.streams + ConformanceCase.settings
    + ConformanceCase.flowControl + ConformanceCase.continuation + ConformanceCase.messages
    + ConformanceCase.compression

  @Test(arguments: cases) func theServerFollowsTheStandard(_ sample: ConformanceCase) async throws {
    try await run(sample, as: sample.requests.filter { $0 != .page }, ServerOptions(), .ipv4)
  }

  @Test(arguments: cases) func aPageOverTLSFollowsTheStandard(_ sample: ConformanceCase) async throws {
    var options = ServerOptions()
    options.web = WebOptions()
    options.pages = [
      HTTPPage("GET", "/") { _ in HTTPPage.Response(contentType: "text/plain", body: "ten bytes!".utf8) },
      HTTPPage("POST", "/") { HTTPPage.Response(contentType: "text/plain", body: $0.body) },
    ]
    try await run(sample, as: [.page] + sample.requests.filter { $0 == .grpc }, options, .tls)
  }

  private func run(
    _ sample: ConformanceCase,
    as requests: [Dialogue.Request],
    _ options: ServerOptions,
    _ wire: Wire
  ) async throws {
    var options = options
    // The scripts ping far more often than a client may.
    options.minimumPingInterval = .zero
    try await TestPair.with(wire, server: options) { pair async throws in
      for request in requests {
        for pace in Dialogue.Pace.allCases {
          let dialogue = try Dialogue(
            pair.address,
            request,
            pace,
            greets: sample.greets,
            isSecure: wire == .tls
          )
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
