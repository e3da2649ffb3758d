import Foundation
import TestSupport
import Testing

/// gRPC's own client (C-core, by grpcio), which makes calls when it is told to.
final class GRPCClient {
  private let process: ChildProcess

  /// A client of these control planes, the preferred one first, with features that the bootstrap says of them. Its calls have the
  /// metadata.
  init(_ planes: PlanePeer..., metadata: [(String, String)] = [], features: [String] = []) throws {
    let servers: [[String: Any]] = planes.map {
      [
        "server_uri": "127.0.0.1:\($0.port)", "channel_creds": [["type": "insecure"]],
        "server_features": features,
      ]
    }
    let bootstrap = try JSONSerialization.data(
      withJSONObject: ["xds_servers": servers, "node": ["id": "grpcio"]] as [String: Any]
    )
    let script = TestFolders.peers().appending(path: "grpcio_client.py").path
    let arguments = [script, String(decoding: bootstrap, as: UTF8.self), "xds:///greeter", "0"]
    process = try ChildProcess(TestFolders.python, arguments + metadata.map { "\($0.0)=\($0.1)" })
    _ = process.line()
  }

  /// How often each server, or each status, answers so many calls.
  func answers(_ calls: Int) throws -> [String: Int] {
    process.write("\(calls)\n")
    let line = try #require(process.line())
    return try JSONDecoder().decode([String: Int].self, from: Data(line.utf8))
  }

  func stop() { process.stop() }
}

extension PlanePeer {
  /// How often each server, or each status, answers gRPC's own client at this control plane. `meanwhile` runs before its channel ends.
  func answersOfGRPC(
    calls: Int,
    _ metadata: [(String, String)] = [],
    features: [String] = [],
    meanwhile: () throws -> Void = {}
  ) throws -> [String: Int] {
    let client = try GRPCClient(self, metadata: metadata, features: features)
    let answers = try client.answers(calls)
    try meanwhile()
    client.stop()
    return answers
  }
}
