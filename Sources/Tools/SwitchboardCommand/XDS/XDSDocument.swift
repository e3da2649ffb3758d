import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// What clients of control planes know, in JSON.
struct XDSDocument {
  private static let types = TypeRegistry([
    Envoy_Config_Listener_V3_Listener.self, Envoy_Config_Route_V3_RouteConfiguration.self,
    Envoy_Config_Cluster_V3_Cluster.self, Envoy_Config_Endpoint_V3_ClusterLoadAssignment.self,
    Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpConnectionManager.self,
    Envoy_Extensions_Clusters_Aggregate_V3_ClusterConfig.self,
  ])

  let json: String

  init(_ answer: Envoy_Service_Status_V3_ClientStatusResponse) {
    json = Self.array(
      answer.config.map { client in
        Self.object([
          ("target", JSONText.string(client.clientScope)), ("node", JSONText.string(client.node.id)),
          ("resources", Self.array(client.genericXdsConfigs.map(Self.resource))),
        ])
      }
    )
  }

  private static func resource(_ resource: XDSResource) -> String {
    let type = resource.typeURL.part(afterLast: "/").map { String($0) } ?? resource.typeURL
    var members = [
      ("type", JSONText.string(type)), ("name", JSONText.string(resource.name)),
      ("status", JSONText.string(resource.clientStatus.name)),
      ("version", JSONText.string(resource.versionInfo)),
    ]
    if resource.hasLastUpdated, let time = try? resource.lastUpdated.jsonString() {
      members.append(("updated", time))
    }
    if resource.hasErrorState {
      let error = resource.errorState
      members.append(
        (
          "error",
          object([
            ("reason", JSONText.string(error.details)), ("version", JSONText.string(error.versionInfo)),
          ])
        )
      )
    }
    if resource.hasXdsConfig, let contents = contents(resource.xdsConfig) {
      members.append(("resource", contents))
    }
    return object(members)
  }

  /// `nil` for a resource in which there are types that the command does not know.
  private static func contents(_ resource: Google_Protobuf_Any) -> String? {
    var options = JSONEncodingOptions()
    options.typeRegistry = types
    return try? resource.jsonString(options: options)
  }

  private static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\(JSONText.string($0)):\($1)" }.joined(separator: ",") + "}"
  }

  private static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }
}
