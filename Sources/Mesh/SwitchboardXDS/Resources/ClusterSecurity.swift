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
  /// Whether the host of an endpoint is sent instead, if it has one.
  var sendsHosts = false
  /// Whether a server's certificate must have the name that was sent, if one was; `names` do not count then.
  var expectsSentName = false

  /// What one of the names of a server must match that was asked for a name, or for none.
  func rules(sent: String?) -> [ServerNameRule] {
    guard expectsSentName, let sent else { return names }
    return [ServerNameRule(text: .exact(Array(sent.utf8)), ignoresCase: false, isOfDNS: true)]
  }
}
