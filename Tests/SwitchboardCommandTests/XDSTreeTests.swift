import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardProtobuf
import TestSupport
import Testing
import XDSMessages

@testable import SwitchboardCommand

/// What `switchboard xds` writes.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct XDSTreeTests {
  private typealias Resource = Envoy_Service_Status_V3_ClientConfig.GenericXdsConfig

  private func resource(
    _ contents: some Message,
    _ name: String,
    _ status: Envoy_Admin_V3_ClientResourceStatus = .acked,
    _ change: (inout Resource) -> Void = { _ in }
  ) throws -> Resource {
    let packed = try Google_Protobuf_Any(message: contents)
    return .with {
      ($0.typeURL, $0.name, $0.versionInfo, $0.clientStatus) = (packed.typeURL, name, "7", status)
      $0.xdsConfig = packed
      change(&$0)
    }
  }

  private func listener(_ routes: String) throws -> Envoy_Config_Listener_V3_Listener {
    let manager = Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpConnectionManager.with {
      $0.rds.routeConfigName = routes
    }
    let packed = try Google_Protobuf_Any(message: manager)
    return .with { $0.apiListener.apiListener = packed }
  }

  private func routes() -> Envoy_Config_Route_V3_RouteConfiguration {
    .with {
      $0.virtualHosts = [
        .with {
          $0.domains = ["shop.example", "*.shop"]
          $0.routes = [
            .with {
              $0.match.path = "/shop.Shop/Buy"
              $0.match.headers = [.with { $0.name = "user" }]
              $0.route.cluster = "one"
            },
            .with {
              $0.match.prefix = "/"
              $0.route.weightedClusters.clusters = [
                .with { ($0.name, $0.weight.value) = ("one", 90) },
                .with { ($0.name, $0.weight.value) = ("all", 10) },
              ]
            },
            .with { $0.match.prefix = "/other" },
          ]
        }
      ]
    }
  }

  private func aggregate(_ names: [String]) throws -> Envoy_Config_Cluster_V3_Cluster {
    let packed = try Google_Protobuf_Any(
      message: Envoy_Extensions_Clusters_Aggregate_V3_ClusterConfig.with { $0.clusters = names }
    )
    return .with { $0.clusterType.typedConfig = packed }
  }

  private func endpoints(_ count: Int) -> Envoy_Config_Endpoint_V3_ClusterLoadAssignment {
    .with {
      $0.endpoints = [
        .with {
          ($0.locality.region, $0.locality.zone, $0.priority) = ("eu", "a", 1)
          $0.loadBalancingWeight.value = 3
          $0.lbEndpoints = (0..<count).map { number in
            .with {
              $0.endpoint.address.socketAddress.address = number == 0 ? "::1" : "10.0.0.1"
              $0.endpoint.address.socketAddress.portValue = UInt32(number)
              $0.healthStatus = number == 1 ? .draining : .healthy
            }
          }
        }
      ]
    }
  }

  private func lines(_ resources: [Resource]) -> [String] {
    let client = Envoy_Service_Status_V3_ClientConfig.with {
      ($0.clientScope, $0.node.id) = ("xds:///shop", "me")
      $0.genericXdsConfigs = resources
    }
    return XDSTree(client, .plain).lines.map(\.text)
  }

  @Test func resourcesStandBelowThoseThatNameThem() throws {
    let cluster = Envoy_Config_Cluster_V3_Cluster.with { $0.edsClusterConfig.serviceName = "service" }
    let lines = lines([
      try resource(endpoints(2), "service"), try resource(cluster, "one"),
      try resource(aggregate(["one", "gone"]), "all"), try resource(cluster, "unused"),
      try resource(routes(), "routes"), try resource(listener("routes"), "shop"),
    ])
    #expect(
      lines.joined(separator: "\n") == """
        client xds:///shop  node me
        ├── listener shop  accepted, version 7
        │   └── routes routes  accepted, version 7
        │       ├── host of shop.example, *.shop
        │       │   ├── /shop.Shop/Buy with rules for user → one
        │       │   ├── all calls → one 90, all 10
        │       │   └── /other* → nothing
        │       ├── cluster one  accepted, version 7
        │       │   └── endpoints service  accepted, version 7
        │       │       └── servers in eu/a  priority 1, weight 3
        │       │           ├── [::1]:0
        │       │           └── 10.0.0.1:1  draining
        │       └── cluster all  accepted, version 7
        │           └── cluster one  see above
        └── cluster unused  accepted, version 7
            └── endpoints service  see above
        """
    )
  }

  @Test func aNodeNeedsNoName() {
    let client = Envoy_Service_Status_V3_ClientConfig.with { $0.clientScope = "xds:///shop" }
    #expect(XDSTree(client, .plain).lines.map(\.text) == ["client xds:///shop"])
  }

  @Test func aClusterMayHaveANameInsteadOfServers() throws {
    let address = Envoy_Config_Core_V3_Address.with {
      ($0.socketAddress.address, $0.socketAddress.portValue) = ("shop.example", 80)
    }
    let cluster = Envoy_Config_Cluster_V3_Cluster.with {
      $0.type = .logicalDns
      $0.loadAssignment.endpoints = [.with { $0.lbEndpoints = [.with { $0.endpoint.address = address }] }]
    }
    #expect(
      lines([try resource(cluster, "one")]).joined(separator: "\n") == """
        client xds:///shop  node me
        └── cluster one  accepted, version 7
            └── servers of the name shop.example:80
        """
    )
  }

  @Test func eachStateSaysWhatIsUsed() throws {
    let cluster = Envoy_Config_Cluster_V3_Cluster()
    func line(
      _ status: Envoy_Admin_V3_ClientResourceStatus,
      isUsed: Bool,
      _ reason: String = "r"
    ) throws -> String? {
      let found = try resource(cluster, "c", status) {
        if !isUsed { $0.clearXdsConfig() }
        if status != .acked, status != .requested {
          ($0.errorState.details, $0.errorState.versionInfo) = (reason, "8")
        }
      }
      return lines([found]).last.map { String($0.dropFirst("└── cluster c  ".count)) }
    }
    #expect(try line(.requested, isUsed: false) == "asked for")
    #expect(try line(.nacked, isUsed: true) == "refused, version 8: r; version 7 is still used")
    #expect(try line(.nacked, isUsed: false) == "refused, version 8: r; none is used")
    #expect(try line(.doesNotExist, isUsed: false) == "missing: r")
    #expect(try line(.doesNotExist, isUsed: true) == "missing: r; version 7 is still used")
    #expect(try line(.timeout, isUsed: false, "") == "late")
    #expect(try line(.receivedError, isUsed: true) == "not sent: r; version 7 is still used")
    #expect(try line(.unknown, isUsed: true) == "UNKNOWN")
  }

  /// Whatever a server says, the tree ends.
  @Test func aTreeHasBounds() throws {
    let many = try (0..<3000).map { try resource(Envoy_Config_Cluster_V3_Cluster(), "c\($0)") }
    #expect(lines(many).count == 2001 && lines(many).last == "… and more")
    let chain = try (0..<100).map { try resource(aggregate(["c\($0 + 1)", "c\($0)"]), "c\($0)") }
    #expect(lines(chain).count < 300)
    #expect(lines([try resource(endpoints(1000), "e")]).last?.hasSuffix("… and 980 more") == true)
  }

  @Test func jsonHasAllThatIsKnown() throws {
    let refused = try resource(listener("routes"), "shop", .nacked) {
      $0.lastUpdated.seconds = 1
      ($0.errorState.details, $0.errorState.versionInfo) = ("\"no\"", "8")
    }
    let answer = Envoy_Service_Status_V3_ClientStatusResponse.with {
      $0.config = [
        .with {
          ($0.clientScope, $0.node.id, $0.genericXdsConfigs) = ("xds:///shop", "me", [refused])
        }
      ]
    }
    let json = try JSONSerialization.jsonObject(with: Data(XDSDocument(answer).json.utf8)) as? [[String: Any]]
    let client = try #require(json?.first)
    #expect(client["target"] as? String == "xds:///shop" && client["node"] as? String == "me")
    let found = try #require((client["resources"] as? [[String: Any]])?.first)
    #expect(found["type"] as? String == "envoy.config.listener.v3.Listener")
    #expect(found["status"] as? String == "NACKED" && found["version"] as? String == "7")
    #expect(found["updated"] as? String == "1970-01-01T00:00:01Z")
    #expect((found["error"] as? [String: String]) == ["reason": "\"no\"", "version": "8"])
    #expect((found["resource"] as? [String: Any])?["apiListener"] != nil)
  }

  @Test func aServerWithoutTheServiceIsNamed() async throws {
    try await withServer([] as [any CallHandlerProvider]) { _, address async throws in
      let run = try Command.product("switchboard", ["xds", "\(address)"])
      #expect(run.exitCode == 12 && run.errors == "switchboard: \(address) has no CSDS service\n")
    }
  }
}
