import SwitchboardText

/// How the connections to the servers of a cluster are secured (gRFC A29).
struct ClusterSecurity: Hashable, Sendable {
  enum Roots: Hashable, Sendable {
    /// Those of the system (gRFC A82).
    case ofSystem
    /// Those that a provider of the bootstrap has.
    case provider(String)
  }

  /// The authorities that may issue certificates of servers.
  var roots: Roots
  /// The provider of the client's own certificate; `nil`: it has none.
  var identity: String?
  /// One of the names of a server's certificate must match one of them. Without any, the certificate of each server is accepted
  /// that the authorities have issued.
  var names: [ServerNameRule] = []
  /// The name that is sent (gRFC A101).
  var sentName: String?
}
