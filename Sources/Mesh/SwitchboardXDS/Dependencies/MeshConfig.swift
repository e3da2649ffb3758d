import SwitchboardCall
import SwitchboardText

/// All that a channel needs to know: the routes of its name, and each cluster that calls may go to.
struct MeshConfig: Hashable, Sendable {
  var host: VirtualHost
  /// In the order in which calls pass them.
  var filters: [FaultFilter]
  var session: SessionFilter?
  var maxStreamDuration: Duration?
  var clusters: [ExactText: ClusterConfig]

  /// A cluster whose servers are to be secured, if there is one.
  var securedCluster: String? {
    for case .leaves(let leaves, _) in clusters.values {
      if let leaf = leaves.first(where: { $0.cluster.security != nil }) { return leaf.cluster.name }
    }
    return nil
  }
}

/// A cluster with all that it names, or why it cannot be used.
enum ClusterConfig: Hashable, Sendable {
  /// The clusters that have servers, the preferred one first: the cluster itself, or those that an aggregate names.
  case leaves([LeafConfig], isAggregate: Bool)
  case failed(String)
}

/// A cluster with its servers.
struct LeafConfig: Hashable, Sendable {
  var cluster: ClusterResource
  /// `nil`: none are known.
  var endpoints: EndpointsResource?
  /// Why there are none.
  var note: String?
  /// Whether calls may belong to sessions.
  var keepsSessions = false
  /// What has happened since to what is used, or else who the client is, for messages of calls that fail for other reasons (gRFC A88).
  var ambient: String?

  /// All places with servers, the preferred priority first.
  var places: FlattenSequence<[[EndpointsResource.Place]]> { (endpoints?.priorities ?? []).joined() }
}
