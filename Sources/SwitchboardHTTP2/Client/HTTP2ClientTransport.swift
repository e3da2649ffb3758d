import SwitchboardCall
import Synchronization

/// The HTTP/2 transport of a channel. It connects, reconnects, and assigns a connection to each call.
package final class HTTP2ClientTransport: ByteTransport, @unchecked Sendable {
  // Sendable because everything except `watchers` is only used on the loop.

  let loop: Loop
  let options: ChannelOptions
  package let host: String
  let target: Target
  let authority: [UInt8]
  let userAgent: [UInt8]
  let tlsContext: TLSContext?
  /// Keeps the loops running while the channel may need them.
  let group: LoopGroup

  @exclusivity(unchecked) private(set) var state = ConnectivityState.idle
  @exclusivity(unchecked) var connections: [ClientConnection] = []
  @exclusivity(unchecked) private var lastConnectionNumber = 0
  @exclusivity(unchecked) var calls = CallTotals()
  @exclusivity(unchecked) var trace = ChannelTrace()
  @exclusivity(unchecked) private var waiting = WaitingCalls() {
    didSet { keepLoop() }
  }
  /// Whether the loop is kept running for waiting calls. Between two attempts to connect, nothing else is open.
  @exclusivity(unchecked) private var keepsLoop = false
  @exclusivity(unchecked) var dialing: Dialing?
  @exclusivity(unchecked) var backoff: Backoff
  @exclusivity(unchecked) var retryTimer: LoopTimer?
  @exclusivity(unchecked) var lastFailure: GRPCStatus?
  /// The number of consecutive connections that ended soon, without a response to any call.
  @exclusivity(unchecked) var uselessInARow = 0
  /// How long a server may be silent before it is pinged. Grows when a server complains about pings.
  @exclusivity(unchecked) private(set) var keepaliveInterval: Duration?
  @exclusivity(unchecked) private var drained: [CheckedContinuation<Void, Never>] = []
  let watchers = Locked(ConnectivityWatchers())
  let siblings = Locked(ChannelSiblings())

  /// Throws `INVALID_ARGUMENT` if the target is invalid or the options contradict each other.
  package convenience init(target: String, options: ChannelOptions, group: LoopGroup) throws(GRPCStatus) {
    try self.init(target: target, options: options, group: group, loop: group.nextLoop())
  }

  /// Runs on one of the group's loops.
  package init(
    target: String,
    options: ChannelOptions,
    group: LoopGroup,
    loop: Loop
  ) throws(GRPCStatus) {
    try options.validate()
    let parsed = try Target(target)
    host = target
    self.target = parsed
    tlsContext = try options.tls.map { tls throws(GRPCStatus) in
      try TLSContext(client: tls, serverName: parsed.host)
    }
    self.options = options
    self.group = group
    self.loop = loop
    authority = Array((options.authority ?? self.target.authority).utf8)
    let prefix = options.userAgentPrefix.isEmpty ? "" : "\(options.userAgentPrefix) "
    userAgent = Array("\(prefix)grpc-swift-switchboard/0.1".utf8)
    keepaliveInterval = options.keepaliveInterval.map { max($0, ChannelOptions.shortestKeepaliveInterval) }
    backoff = Backoff(initial: options.connectInitialBackoff, maximum: options.connectMaxBackoff)
  }

  package var eventLoop: any EventLoop { loop }
  package var streamBufferSize: Int { options.streamBufferSize }

  package func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    ClientCallStream(consume request, receiver, self)
  }

  var sessionSettings: SessionSettings {
    SessionSettings(
      streamWindow: options.streamLookahead,
      connectionWindow: options.connectionWindow,
      windowLimit: options.maxWindow,
      unreadLimit: options.connectionBufferSize,
      maxHeaderListSize: options.maxMetadataSize,
      isServer: false,
      headerTableSize: options.hpackTableSizeDecoder,
      maxEncoderTableSize: options.hpackTableSizeEncoder,
      controlFrameAllowance: options.controlFrameAllowance
    )
  }

  /// Whether no call is in progress or waits for a connection. Call on the loop.
  package var isUnused: Bool {
    !hasWaitingCalls && connections.allSatisfy { $0.session.streams.count == 0 }
  }

  // MARK: Calls

  /// Spins for a response, to avoid the cost of being woken for it. Does nothing on the loop, which the response needs.
  func look(for isThere: () -> Bool) {
    guard !loop.inEventLoop else { return }
    CallerSpin.ofProcess.look(urgent: options.lowLatency, for: isThere)
  }

  /// Returns a connection for a call. Returns `nil` if none has room; the call is then queued, and is opened when one
  /// has.
  func connection(for call: ClientCallStream) throws(GRPCStatus) -> ClientConnection? {
    if state == .shutdown { throw .channelShutDown }
    if let connection = connections.first(where: \.hasRoom) { return connection }
    if state == .transientFailure, !call.waitsForReady { throw lastFailure ?? .connectionLost }
    guard waiting.count < options.maxWaitingCalls else { throw .tooManyWaitingCalls }
    waiting.append(call)
    connectIfNeeded()
    return nil
  }

  func waitingCallDidClose() { waiting.callDidEnd() }

  /// Opens waiting calls on connections with room.
  func connectionHasRoom() {
    while !waiting.isEmpty {
      guard let connection = connections.first(where: \.hasRoom) else { return connectIfNeeded() }
      waiting.popFirst()?.open(on: connection)
    }
  }

  /// Fails the waiting calls, except those that wait until a connection is ready if `includingPatient` is false.
  func failWaiting(_ status: GRPCStatus, includingPatient: Bool) {
    for call in waiting.take(where: { includingPatient || !$0.waitsForReady }) { call.endEarly(status) }
  }

  private func keepLoop() {
    guard keepsLoop == waiting.isEmpty else { return }
    keepsLoop.toggle()
    loop.openHandles += keepsLoop ? 1 : -1
  }

  var waitingCallCount: Int { waiting.count }
  var hasWaitingCalls: Bool { !waiting.isEmpty }

  /// Doubles the keepalive interval, up to a maximum, because a server has complained about pings.
  func askLessOften() {
    guard let interval = keepaliveInterval else { return }
    let longest = ChannelOptions.longestKeepaliveInterval
    let longer = interval < longest ? min(interval * 2, longest) : interval
    keepaliveInterval = longer
    options.logger.log(
      .warning,
      "the server complained about too many keepalive pings",
      ["target": target.authority, "interval": "\(longer)"]
    )
  }

  func nextConnectionNumber() -> Int {
    lastConnectionNumber += 1
    return lastConnectionNumber
  }

  var observed: ObservedConnection {
    ObservedConnection(peer: target.authority, isSecure: tlsContext != nil, isServer: false)
  }

  /// Connects without a call, unless there is a connection or the channel is connecting already.
  package func connect() {
    loop.execute {
      if self.state == .idle { self.connectIfNeeded() }
    }
  }

  func setState(_ new: ConnectivityState) {
    guard state != new, state != .shutdown else { return }
    state = new
    trace.add("\(new)")
    for watcher in watchers.withLock({ $0.change(to: new) }) {
      watcher.yield(new)
      if new == .shutdown { watcher.finish() }
    }
  }

  // MARK: Shutting down

  package func shutDown(grace: Duration) async {
    retireSiblings()
    let deadline = Task(executorPreference: loop) {
      try await self.loop.sleep(for: grace)
      self.loop.execute { self.closeAll() }
    }
    await withCheckedContinuation { continuation in
      // If the loop has ended, the connections have closed with it.
      if !loop.add(.closure { self.beginShutDown(continuation) }) { continuation.resume() }
    }
    deadline.cancel()
    if grace > .zero { await loop.waitForLastWords() }
  }

  package func retire() {
    retireSiblings()
    loop.execute { self.beginShutDown(nil) }
  }

  private func beginShutDown(_ continuation: CheckedContinuation<Void, Never>?) {
    setState(.shutdown)
    cancelDialing()
    failWaiting(.channelShutDown, includingPatient: true)
    if let continuation { drained.append(continuation) }
    for connection in connections { connection.retire() }
    resumeIfDrained()
  }

  func resumeIfDrained() {
    guard state == .shutdown, connections.isEmpty else { return }
    for continuation in drained { continuation.resume() }
    drained = []
  }

  private func closeAll() {
    for connection in connections { connection.close(.channelShutDown) }
  }
}
