/// What a channel's resolver has decided about a call before a server is chosen: where it goes, and how it is made. Only the
/// policies that come with the resolver look into it; others pass it on.
///
/// Calls with the same decision share one. A call keeps its route to its end, whatever the resolver finds meanwhile.
public final class CallRoute: Sendable {
  /// The call's timeout, and how it is repeated.
  package let config: MethodConfig?
  /// The child of the resolver's policy that has the servers.
  package let child: String
  /// The hash of a call's metadata, for policies that choose a server by it. `nil` if nothing in the metadata decides.
  package let hash: (@Sendable (HPACKHeaders) -> UInt64?)?
  /// What is done to a call with these metadata before it is made; `nil`: nothing is done to any.
  package let faults: (@Sendable (HPACKHeaders) -> [CallFault])?
  /// Whether `:authority` is the host of the server that a call goes to, where that is known (gRFC A81).
  package let rewritesAuthority: Bool
  /// The session that a call belongs to; `nil`: it belongs to none. A call of a session has a route of its own.
  package let session: (any CallSession)?
  /// Lives as long as the route, so that the resolver knows which children calls may still need.
  private let lease: (any AnyObject & Sendable)?

  package init(
    to child: String,
    config: MethodConfig? = nil,
    lease: (any AnyObject & Sendable)? = nil,
    rewritesAuthority: Bool = false,
    session: (any CallSession)? = nil,
    hash: (@Sendable (HPACKHeaders) -> UInt64?)? = nil,
    faults: (@Sendable (HPACKHeaders) -> [CallFault])? = nil
  ) {
    self.child = child
    self.config = config
    self.lease = lease
    self.rewritesAuthority = rewritesAuthority
    self.session = session
    self.faults = faults
    self.hash = hash
  }

  /// The same decision, for a call of a session.
  package func joining(_ session: any CallSession) -> CallRoute {
    CallRoute(
      to: child,
      config: config,
      lease: lease,
      rewritesAuthority: rewritesAuthority,
      session: session,
      hash: hash,
      faults: faults
    )
  }
}

/// What keeps the calls of a session at one server: the application sends with each call a cookie that came with an earlier response
/// (gRFC A55). While the server that was picked for it connects, the call waits there.
package protocol CallSession: AnyObject, Sendable {
  /// The field `set-cookie` that the metadata of a response get from this server, an address as text; `nil`: none, because the call
  /// had the cookie already.
  func cookie(from server: String) -> String?
}

/// Decides about each call by its method and its metadata: what gRPC calls a config selector. Each result of a resolver may
/// bring another, which is for the calls that begin later.
package protocol CallRouter: AnyObject, Sendable {
  /// The route of a call. Called on any thread. Throws the status of a call that has none.
  func route(_ method: MethodDescriptor, _ metadata: HPACKHeaders) throws(GRPCStatus) -> CallRoute
}
