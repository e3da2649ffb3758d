import SwitchboardCall

/// One server of a channel: its addresses, and the connection to one of them, if there is one.
///
/// Policies make subchannels through their host, and decide when these connect. All methods are called on the channel's
/// loop.
public protocol Subchannel: AnyObject {
  /// Its state.
  var state: SubchannelState { get }

  /// Connects, unless the subchannel is connected or connecting. Has no effect during the wait after a failure.
  func connect()

  /// Replaces the addresses. A connection to an address that is still in the list is kept; otherwise it finishes its
  /// calls and closes.
  func update(_ addresses: [EndpointAddress])

  /// Changes the interval at which the server reports its load, in place of that of the options. `nil` stops the
  /// reports.
  func reportLoad(every interval: Duration?)

  /// Opens no more calls. Calls in flight finish, and then the connection closes.
  func shutDown()
}

/// The state of a subchannel.
public struct SubchannelState: Sendable, Equatable {
  /// `transientFailure` becomes `idle` once the wait before the next attempt is over.
  public var connectivity: ConnectivityState
  /// Why it failed, in `transientFailure`.
  public var failure: GRPCStatus?
  /// The state of the connection, if it counts as failed because too many of its calls have failed.
  package var beneathEjection: ConnectivityState?
  /// The state of the connection. Ejection is a matter of policies: calls of sessions go there nevertheless (gRFC A61).
  package var connection: ConnectivityState { beneathEjection ?? connectivity }

  /// A state, with the reason of a failure.
  public init(_ connectivity: ConnectivityState, failure: GRPCStatus? = nil) {
    self.connectivity = connectivity
    self.failure = failure
  }
}

/// The options with which a policy makes a subchannel.
public struct SubchannelOptions: Sendable, Equatable {
  /// Whether the subchannel is ready only while the server is healthy, if the service config enables health checks.
  public var checksHealth = true
  /// How often the server is asked to report its load independently of calls. `nil`: never.
  public var loadReportInterval: Duration?
  /// The labels of the server's calls in metrics, such as `grpc.lb.locality`, where the program asks for them.
  public var metricLabels: [String: String] = [:]
  /// How its connections are secured, if not as the channel's.
  package var security: SubchannelSecurity?
  /// The hosts of its addresses, for calls whose route asks for that of their server; `nil`: none is known.
  package var hosts: ServerHosts?

  /// The defaults.
  public init() {}
}

/// How the connections of a subchannel are secured, for the transport, which knows what it is. Two are the same if they are one
/// object.
package struct SubchannelSecurity: Sendable, Equatable {
  package let value: any AnyObject & Sendable

  package init(_ value: any AnyObject & Sendable) { self.value = value }

  package static func == (left: SubchannelSecurity, right: SubchannelSecurity) -> Bool {
    left.value === right.value
  }
}
