import Foundation
import TestSupport
import Testing

extension PlanePeer {
  /// How often each server, or each status, answers gRPC's own client (C-core, by grpcio) at this control plane.
  /// `meanwhile` runs before its channel ends.
  func answersOfGRPC(
    calls: Int,
    _ metadata: [(String, String)] = [],
    meanwhile: () throws -> Void = {}
  ) throws -> [String: Int] {
    let server: [String: Any] = ["server_uri": "127.0.0.1:\(port)", "channel_creds": [["type": "insecure"]]]
    let bootstrap = try JSONSerialization.data(
      withJSONObject: ["xds_servers": [server], "node": ["id": "grpcio"]] as [String: Any]
    )
    let peer = try PythonPeer(
      "grpcio_client.py",
      [String(decoding: bootstrap, as: UTF8.self), "xds:///greeter", "\(calls)"]
        + metadata.map { "\($0.0)=\($0.1)" }
    )
    let line = try #require(peer.line())
    try meanwhile()
    peer.stop()
    return try JSONDecoder().decode([String: Int].self, from: Data(line.utf8))
  }
}
