import Foundation
import TestSupport
import Testing

/// Envoy as a proxy that a control plane configures, by `Peers/envoy_proxy.py`.
final class EnvoyProxy: Sendable {
  private let ports: [String: Int]
  private let process: ChildProcess

  /// It has what the control plane has now. A second one is for want of the first.
  init(_ planes: [PlanePeer]) throws {
    let script = TestFolders.peers().appending(path: "envoy_proxy.py").path
    process = try ChildProcess(TestFolders.python, [script] + planes.map { "\($0.port)" })
    let line = try #require(process.line())
    ports = try JSONDecoder().decode([String: Int].self, from: Data(line.utf8))
  }

  /// Where it takes calls that clients of gRPC make to this name.
  func address(of name: String = "greeter") throws -> String {
    "127.0.0.1:\(try #require(ports[Mesh.proxy(of: name)]))"
  }

  /// What its administration answers.
  func ask(_ path: String) throws -> String {
    process.write(path + "\n")
    let line = try #require(process.line())
    return try JSONDecoder().decode([String].self, from: Data("[\(line)]".utf8))[0]
  }

  func stop() { process.stop() }
}

extension Mesh {
  /// The name of a proxy's listener that has the rules of another, which is one of gRPC's clients.
  static func proxy(of name: String) -> String { "proxy-of-\(name)" }

  /// This, and what a proxy needs beside it: for each listener of clients, one at a port, with the same filters and routes; and in
  /// clusters, that their servers speak HTTP/2. All else is the same for all.
  var withProxy: Mesh {
    var mesh = self
    for listener in listeners {
      guard let name = listener["name"] as? String, let api = listener["apiListener"] as? [String: Any],
        let manager = api["apiListener"] as? [String: Any]
      else { continue }
      let filter: [String: Any] = [
        "name": "http", "typedConfig": manager.merging(["statPrefix": "http"]) { $1 },
      ]
      mesh.listeners.append([
        "name": Self.proxy(of: name),
        "address": ["socketAddress": ["address": "127.0.0.1", "portValue": 0]],
        "filterChains": [["filters": [filter]]],
      ])
    }
    let options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    let http2: [String: Any] = [
      "@type": "type.googleapis.com/\(options)",
      "explicitHttpConfig": ["http2ProtocolOptions": [:] as [String: Any]],
    ]
    mesh.clusters = clusters.map { cluster in
      // An aggregate has no servers.
      cluster["clusterType"] == nil
        ? cluster.merging(["typedExtensionProtocolOptions": [options: http2]]) { $1 } : cluster
    }
    return mesh
  }
}
