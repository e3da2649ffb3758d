import SwitchboardCall
import Synchronization

/// The HTTP/2 transport under a channel: connects, reconnects, and gives each call a connection.
package final class HTTP2ClientTransport: ByteTransport, @unchecked Sendable {
  // Sendable holds because everything but `watchers` is touched on the loop alone.

  let loop: Loop
  let options: ChannelOptions
  package let host: String
  let target: Target
  let authority: [UInt8]
  let userAgent: [UInt8]
  let tlsContext: TLSContext?
  /// Keeps the loops running for as long as the channel may need them.
  let group: LoopGroup

  @exclusivity(unchecked) private(set) var state = ConnectivityState.idle
  @exclusivity(unchecked) var connections: [ClientConnection] = []
  @exclusivity(unchecked) private var lastConnectionNumber = 0
  @exclusivity(unchecked) var calls = CallTotals()
  @exclusivity(unchecked) var trace = ChannelTrace()
  @exclusivity(unchecked) private var waiting = WaitingCalls() {
    didSet { keepLoop() }
  }
  /// The loop must not end before calls that wait do: between two attempts to connect nothing else is open.
  @exclusivity(unchecked) private var keepsLoop = false
  @exclusivity(unchecked) var dialing: Dialing?
  @exclusivity(unchecked) var backoff: Backoff
  @exclusivity(unchecked) var retryTimer: LoopTimer?
  @exclusivity(unchecked) var lastFailure: GRPCStatus?
  /// How many connections in turn have ended soon, without an answer to any call.
  @exclusivity(unchecked) var uselessInARow = 0
  /// How long servers may be silent; grows where one finds that it is asked too often.
  @exclusivity(unchecked) private(set) var keepaliveInterval: Duration?
  @exclusivity(unchecked) private var drained: [CheckedContinuation<Void, Never>] = []
  let watchers = Locked(ConnectivityWatchers())
  let siblings = Locked(ChannelSiblings())

  /// Throws `INVALID_ARGUMENT` for a target that cannot be understood, or options that contradict each other.
  package convenience init(target: String, options: ChannelOptions, group: LoopGroup) throws(GRPCStatus) {
    try self.init(target: target, options: options, group: group, loop: group.nextLoop())
  }

  /// On one of the group's loops.
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

  /// Whether no call is under way or waits for a connection. On the loop.
  package var isUnused: Bool {
    !hasWaitingCalls && connections.allSatisfy { $0.session.streams.count == 0 }
  }

  // MARK: Calls

  /// Looks for an answer for a moment, which saves being woken for it. On the loop nothing would come of it.
  func look(for isThere: () -> Bool) {
    guard !loop.inEventLoop else { return }
    CallerSpin.ofProcess.look(urgent: options.lowLatency, for: isThere)
  }

  /// The connection for a call. `nil` where none has room: the call waits, and is opened once one has.
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

  /// Calls that wait are sent on, as far as there is room.
  func connectionHasRoom() {
    while !waiting.isEmpty {
      guard let connection = connections.first(where: \.hasRoom) else { return connectIfNeeded() }
      waiting.popFirst()?.open(on: connection)
    }
  }

  /// Calls that will not wait for a connection hear of the failure.
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

  /// The server says that it is asked for signs of life too often: from now on half as often, as far as that goes.
  func askLessOften() {
    guard let interval = keepaliveInterval else { return }
    let longest = ChannelOptions.longestKeepaliveInterval
    let longer = interval < longest ? min(interval * 2, longest) : interval
    keepaliveInterval = longer
    options.logger.log(
      .warning,
      "the server found too many keepalive pings",
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

  /// Connects without waiting for a call to want it, unless there is a connection or one is on its way.
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
      // A loop that has ended has taken the connections with it.
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
