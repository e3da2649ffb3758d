import SwitchboardCall

/// One server of a channel: its addresses, and the connection to one of them, if there is one.
///
/// Policies make subchannels through their host, and decide when these connect. All methods are called on the channel's
/// loop.
public protocol Subchannel: AnyObject {
  /// Its state.
  var state: SubchannelState { get }

  /// Connects, unless it is connected or connecting. Does nothing while it waits after a failure.
  func connect()

  /// Gives it other addresses. A connection to an address that is still among them is kept; another finishes its calls
  /// and closes.
  func update(_ addresses: [EndpointAddress])

  /// Asks the server for its load at another interval than that of the options. `nil`: stops asking.
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

  /// A state, with the reason of a failure.
  public init(_ connectivity: ConnectivityState, failure: GRPCStatus? = nil) {
    self.connectivity = connectivity
    self.failure = failure
  }
}

/// The requirements of a policy for a subchannel.
public struct SubchannelOptions: Sendable, Equatable {
  /// Whether it counts as ready only while the server's health service says so, where the service config asks for health
  /// checks.
  public var checksHealth = true
  /// How often the server is asked to report its load independently of calls. `nil`: never.
  public var loadReportInterval: Duration?

  /// The defaults.
  public init() {}
}
