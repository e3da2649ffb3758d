// unsafe: state confined to the channel's loop; lends bytes that a proxy has left to a connection

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// One server of a channel: one connection to one of its addresses, and more if the server limits the calls per
/// connection.
final class HTTP2Subchannel: Subchannel {
  // Unchecked exclusivity: confined to the loop.
  let channel: HTTP2ClientTransport
  let number: Int
  var options: SubchannelOptions
  /// Whether calls have labels in metrics.
  let hasLabels: Bool
  var loop: Loop { channel.loop }
  @exclusivity(unchecked) var addresses: [EndpointAddress] {
    didSet { shown = channel.destination.shown(addresses) }
  }
  /// The server in messages: its name and its addresses.
  @exclusivity(unchecked) private(set) var shown: String
  /// Is notified of changes until the subchannel is shut down.
  @exclusivity(unchecked) var observer: (any SubchannelObserver)?
  @exclusivity(unchecked) var state = SubchannelState(.idle)
  @exclusivity(unchecked) var connections: [ClientConnection] = []
  @exclusivity(unchecked) var dialing: Dialing?
  @exclusivity(unchecked) var backoff: Backoff
  @exclusivity(unchecked) var retryTimer: LoopTimer?
  /// The number of consecutive connections that ended soon, without a response to any call.
  @exclusivity(unchecked) var uselessInARow = 0
  @exclusivity(unchecked) var healthWatch: ServerWatch?
  @exclusivity(unchecked) var loadWatch: ServerWatch?
  /// What the log has said that the server lacks: it may be asked on each connection.
  @exclusivity(unchecked) var reportedLacks: Set<WatchedService> = []
  /// Calls that were assigned here while no connection had room.
  @exclusivity(unchecked) var waiting = WaitingCalls()
  @exclusivity(unchecked) var calls = CallTotals()

  init(
    _ channel: HTTP2ClientTransport,
    number: Int,
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) {
    self.channel = channel
    self.number = number
    self.addresses = addresses
    shown = channel.destination.shown(addresses)
    self.observer = observer
    self.options = options
    hasLabels = !options.metricLabels.isEmpty
    backoff = Backoff(
      initial: channel.options.connectInitialBackoff,
      maximum: channel.options.connectMaxBackoff
    )
  }

  /// How its connections are secured; `nil` for plaintext.
  var security: TLSContexts? { options.security?.value as? TLSContexts ?? channel.destination.tls }

  /// Its connections, as observers see them.
  var observed: ObservedConnection {
    var observed = channel.observed(isSecure: security != nil)
    observed.labels.merge(options.metricLabels) { $1 }
    return observed
  }

  var isShutDown: Bool { state.connectivity == .shutdown }

  var servingConnection: ClientConnection? { connections.first { $0.isReady && !$0.isRetired } }

  // MARK: Calls

  /// A connection for a call, or `nil` if the call waits here until one has room. Throws if too many wait.
  func connection(for call: ClientCallStream) throws(GRPCStatus) -> ClientConnection? {
    let isReady = state.connectivity == .ready
    if isReady, let connection = connections.first(where: \.hasRoom) { return connection }
    try channel.countWaiting()
    waiting.append(call)
    // A server with a connection that is not ready is asked for its health.
    if isReady || servingConnection == nil { connectIfNeeded() }
    return nil
  }

  func waitingCallDidClose() { waiting.callDidEnd() }

  func callStarted() { calls.callStarted(at: loop.turnTime) }
  func callEnded(_ status: GRPCStatus) { calls.callEnded(isOk: status.isOk) }

  /// Opens waiting calls on connections with room. Calls of sessions may wait before the server is known to be healthy.
  func connectionHasRoom() {
    while !waiting.isEmpty, state.connectivity == .ready {
      guard let connection = connections.first(where: \.hasRoom) else { return connectIfNeeded() }
      channel.stopWaiting()
      waiting.popFirst()?.open(on: connection)
    }
  }

  /// Makes the channel place the waiting calls again.
  func giveBackWaiting() {
    let calls = waiting.take()
    channel.stopWaiting(calls.count)
    for call in calls { call.pickAgain() }
  }

  // MARK: States

  func setState(_ connectivity: ConnectivityState, _ failure: GRPCStatus? = nil) {
    guard !isShutDown, state.connectivity != connectivity || failure != nil else { return }
    state = SubchannelState(connectivity, failure: failure)
    observer?.subchannelChanged(self, to: state)
    if connectivity == .ready { connectionHasRoom() } else { giveBackWaiting() }
  }

  func connect() {
    guard state.connectivity == .idle, dialing == nil, !loop.hasEnded else { return }
    dial()
  }

  func update(_ addresses: [EndpointAddress]) {
    guard addresses != self.addresses else { return }
    let isNew = Set(addresses) != Set(self.addresses)
    self.addresses = addresses
    guard isNew else { return }
    backoff.reset()
    for connection in connections where !connection.isServing(addresses) { connection.retire() }
    // The current attempt may be for a removed address.
    if dialing != nil, dialing?.connection.map({ !$0.isServing(addresses) }) ?? true {
      cancelDialing()
      if servingConnection == nil { dial() }
    } else if state.connectivity == .transientFailure, servingConnection == nil {
      stopRetryTimer()
      setState(.idle)
    }
  }

  func shutDown() {
    guard !isShutDown else { return }
    state = SubchannelState(.shutdown)
    observer = nil
    stopWatches(of: nil)
    cancelDialing()
    giveBackWaiting()
    for connection in connections { connection.retire() }
    if connections.isEmpty { channel.subchannelDidEnd(self) }
  }

  /// Closes all connections and ends their calls.
  /// The calls that its connections carry.
  var openStreams: Int {
    connections.reduce(0) { sum, connection in
      let counters = connection.counters
      return sum + counters.streamsStarted - counters.streamsSucceeded - counters.streamsFailed
    }
  }

  func closeAll(_ status: GRPCStatus) {
    for connection in connections { connection.close(status) }
  }
}
