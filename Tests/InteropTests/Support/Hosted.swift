import Foundation
import Switchboard
import TestSupport

@testable import Interop

/// How a client and a server are connected.
enum Link: String, CaseIterable, Sendable {
  case plaintext, tls, unix

  var serverFlags: [String] {
    switch self {
    case .plaintext: []
    case .tls: ["--use_tls"]
    case .unix: ["--unix_socket=\(NSTemporaryDirectory())interop-\(UUID().uuidString).sock"]
    }
  }

  func clientFlags(_ addresses: [SocketAddress]) -> [String] {
    let port = "--server_port=\(addresses[0].port)"
    return switch self {
    case .plaintext: [port]
    case .tls: [port, "--use_tls=true", "--use_test_ca=true", "--server_host_override=foo.test.google.fr"]
    case .unix: ["--server_host=\(addresses[1])"]
    }
  }
}

/// The smallest settings for clients that still prove the point.
let quick = [
  "--soak_iterations=3", "--soak_per_iteration_max_acceptable_latency_ms=60000",
  "--soak_overall_timeout_seconds=240",
]

let accountFlag =
  "--service_account_key_file="
  + TestFolders.peers().appending(path: "service_account.json").path

/// Runs one case as the command does, with small sizes; throws if it fails.
func run(_ test: TestCase, _ flags: [String], _ scale: InteropClient.Scale = .quick) async throws {
  var client = try InteropClient(try Arguments(["client", accountFlag] + quick + flags))
  client.scale = scale
  let result: Result<String?, any Error>
  do {
    result = .success(try await client.run(test))
  } catch {
    result = .failure(error)
  }
  await client.shutDown()
  _ = try result.get()
}

extension InteropClient.Scale {
  static let quick = InteropClient.Scale(concurrentCalls: 50, idle: .zero)
}
