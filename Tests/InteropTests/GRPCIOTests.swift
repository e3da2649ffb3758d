import Foundation
import HTTP2TestSupport
import Switchboard
import TestSupport
import Testing

@testable import Interop

/// With grpcio as the peer, in both roles.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct GRPCIOTests {
  /// Its handlers cannot see whether a request was compressed, so they cannot reject a wrong flag.
  static let notInServer: Set<TestCase> = [.clientCompressedUnary, .clientCompressedStreaming]
  /// Its callers cannot leave one message of a stream uncompressed, cannot see whether a response was compressed, and
  /// have no cache.
  static let notInClient: Set<TestCase> = [
    .cacheableUnary, .clientCompressedStreaming, .serverCompressedUnary, .serverCompressedStreaming,
  ]

  static func cases(without missing: Set<TestCase>) -> [TestCase] {
    TestCase.allCases.filter { !$0.isNegative && !missing.contains($0) }
  }

  private static let account = String(accountFlag.split(separator: "=")[1])

  @Test(arguments: [Link.plaintext, .tls])
  func ourClientPasses(_ link: Link) async throws {
    var arguments = ["server", Self.account]
    if link == .tls {
      arguments += [
        try temporaryFile(TestAuthority.server.certificateChain),
        try temporaryFile(TestAuthority.server.privateKey),
      ]
    }
    let peer = try PythonPeer("grpcio_interop.py", arguments)
    defer { peer.stop() }
    let port = try #require(peer.line())
    var flags = ["--server_host=127.0.0.1", "--server_port=\(port)"]
    if link == .tls { flags += ["--use_tls", "--use_test_ca"] }
    for test in Self.cases(without: Self.notInServer) {
      await #expect(throws: Never.self, "\(test.rawValue)") {
        try await Outcomes.record(test, "to grpcio, \(link.rawValue)") { try await run(test, flags) }
      }
    }
  }

  @Test(arguments: [Link.plaintext, .tls])
  func ourServerPasses(_ link: Link) async throws {
    let server = try InteropServer(try Arguments(["server", accountFlag] + link.serverFlags))
    let port = server.addresses[0].port
    var arguments = ["client", Self.account, "localhost:\(port)"]
    arguments.append(link == .tls ? try temporaryFile(TestAuthority.certificate) : "-")
    let tests = Self.cases(without: Self.notInClient)
    let peer = try PythonPeer("grpcio_interop.py", arguments + tests.map(\.rawValue))
    defer { peer.stop() }
    for test in tests {
      await #expect(throws: Never.self, "\(test.rawValue)") {
        try await Outcomes.record(test, "from grpcio, \(link.rawValue)") {
          let line = peer.line()
          if line != "\(test.rawValue): passed" { throw Unexpected(description: line ?? "it ended") }
        }
      }
    }
    await server.server.shutDown(grace: .zero)
  }
}
