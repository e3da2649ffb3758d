import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// nghttp2's own tools as the peer.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct Nghttp2Tests {
  /// The output of a tool.
  private func run(_ name: String, _ arguments: [String]) throws -> String {
    try ChildProcess("/usr/bin/\(name)", arguments, errors: .discarded).allOutput()
  }

  private func requestFile() throws -> String {
    try temporaryFile([0, 0, 0, 0, 5] + Array("hello".utf8), suffix: "bin")
  }

  @Test(arguments: [Wire.ipv4, .tls]) func h2loadFindsNothingWrong(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let scheme = wire == .tls ? "https" : "http"
      let report = try run(
        "h2load",
        [
          "-n", "20000", "-c", "8", "-m", "50", "-d", try requestFile(), "-H", "te: trailers",
          "-H", "content-type: application/grpc",
          "\(scheme)://127.0.0.1:\(pair.address.port)/test.Test/Get",
        ]
      )
      #expect(report.contains("20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout"))
    }
  }

  @Test func nghttpSeesTheTrailers() async throws {
    try await TestPair.with { pair async throws in
      let report = try run(
        "nghttp",
        [
          "-v", "--no-dep", "-d", try requestFile(), "-H", "te: trailers", "-H", ":method: POST",
          "-H", "content-type: application/grpc", "http://127.0.0.1:\(pair.address.port)/test.Test/Get",
        ]
      )
      #expect(report.contains("grpc-status: 0"))
      #expect(!report.contains("recv GOAWAY"))
    }
  }
}
