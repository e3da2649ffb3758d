import Foundation
import TestSupport
import Testing

/// gRPC's own client (C-core, by grpcio), which makes calls when it is told to.
final class GRPCClient {
  private static let script = TestFolders.peers().appending(path: "grpcio_client.py").path

  private let process: ChildProcess

  /// A client of these control planes, the preferred one first, with features that the bootstrap says of them. Its calls have the
  /// metadata. The target has an owner if one is given, whose control planes are these too. Errors of resources are read if that is on
  /// (gRFC A88).
  init(
    _ planes: [PlanePeer],
    metadata: [(String, String)] = [],
    features: [String] = [],
    owner: String = "",
    readsErrors: Bool = false
  ) throws {
    let servers: [[String: Any]] = planes.map {
      [
        "server_uri": "127.0.0.1:\($0.port)", "channel_creds": [["type": "insecure"]],
        "server_features": features,
      ]
    }
    let bootstrap = try JSONSerialization.data(
      withJSONObject: [
        "xds_servers": servers, "node": ["id": "grpcio"],
        "authorities": owner.isEmpty ? [:] : [owner: [:] as [String: Any]],
      ] as [String: Any]
    )
    let arguments = [Self.script, String(decoding: bootstrap, as: UTF8.self), "xds://\(owner)/greeter", "0"]
    process = try ChildProcess(
      TestFolders.python,
      arguments + (readsErrors ? ["--data-errors"] : []) + metadata.map { "\($0.0)=\($0.1)" }
    )
    _ = process.line()
  }

  /// A client whose servers are secured as the control plane says, by the provider `files`.
  init(secured plane: PlanePeer) throws {
    process = try ChildProcess(
      TestFolders.python,
      [Self.script, try plane.securedBootstrap(), "xds:///greeter", "0", "--control-plane-security"]
    )
    _ = process.line()
  }

  /// How often each server, or each status, answers so many calls, which have this metadata too.
  func answers(_ calls: Int, _ metadata: [(String, String)] = [], atOnce: Int = 1) throws -> [String: Int] {
    try order(["calls": calls, "metadata": metadata.map { [$0.0, $0.1] }, "at_once": atOnce])
  }

  /// How many of so many calls are answered before a call that is made after each, without the metadata.
  func answered(_ calls: Int, _ metadata: [(String, String)]) throws -> Int {
    try order(["calls": calls, "metadata": metadata.map { [$0.0, $0.1] }, "cancel": true])["answered"] ?? 0
  }

  /// Begins a call that goes on, or ends it.
  func hold(_ goesOn: Bool) throws { _ = try order(["hold": goesOn]) }

  private func order(_ order: [String: Any]) throws -> [String: Int] {
    process.write(String(decoding: try JSONSerialization.data(withJSONObject: order), as: UTF8.self) + "\n")
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
    readsErrors: Bool = false,
    meanwhile: () throws -> Void = {}
  ) throws -> [String: Int] {
    let client = try GRPCClient([self], metadata: metadata, features: features, readsErrors: readsErrors)
    let answers = try client.answers(calls)
    try meanwhile()
    client.stop()
    return answers
  }
}
