// unsafe: state confined to the connection's loop

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// The HTTP/2 transport of a channel. It finds servers for a name, and assigns one of their connections to each call.
package final class HTTP2ClientTransport: ByteTransport, @unchecked Sendable {
  // Sendable because everything except `watchers` and `siblings` is only used on the loop.

  let loop: Loop
  let options: ChannelOptions
  let destination: ChannelDestination
  let userAgent: [UInt8]
  /// Keeps the loops running while the channel may need them.
  let group: LoopGroup

  let balancer: ChannelBalancer
  package let resolvedConfig: ResolvedConfig?
  @exclusivity(unchecked) private(set) var state = ConnectivityState.idle
  @exclusivity(unchecked) private(set) var subchannels: [Int: HTTP2Subchannel] = [:]
  @exclusivity(unchecked) private var lastNumber = 0
  @exclusivity(unchecked) var calls = CallTotals()
  @exclusivity(unchecked) var trace = ChannelTrace()
  /// Why the last attempt to resolve the name or to connect failed, until one succeeds.
  @exclusivity(unchecked) var lastFailure: GRPCStatus?
  @exclusivity(unchecked) var idleness = ChannelIdleness()
  @exclusivity(unchecked) private(set) var waiting = WaitingRoom()
  /// How long a server may be silent before it is pinged. Grows when a server complains about pings.
  @exclusivity(unchecked) private(set) var keepaliveInterval: Duration?
  @exclusivity(unchecked) private var ending = ChannelEnd()
  let watchers = Locked(ConnectivityWatchers())
  let siblings = Locked(ChannelSiblings())
  let mistakes: ChannelMistakes

  /// Throws `INVALID_ARGUMENT` if the target is invalid or the options contradict each other.
  /// `loop` is one of the group's.
  package convenience init(
    target: String,
    options: ChannelOptions,
    group: LoopGroup,
    loop: Loop? = nil
  ) throws(GRPCStatus) {
    let loop = loop ?? group.nextLoop()
    try self.init(target: target, options: options, group: group, loop: loop, proxies: .ofProcess)
  }

  /// `proxies` are the settings of the environment. `singleCalls` has the other channels that the program has made itself.
  init(
    target text: String,
    options: ChannelOptions,
    group: LoopGroup,
    loop: Loop,
    proxies: ProxyEnvironment,
    singleCalls: SingleCallChannels? = nil
  ) throws(GRPCStatus) {
    try options.validate()
    let destination = try ChannelDestination(text, options, proxies)
    let target = destination.target
    self.destination = destination
    self.options = options
    self.group = group
    self.loop = loop
    userAgent = try options.makeUserAgent()
    keepaliveInterval = options.keepaliveInterval.map { max($0, ChannelOptions.shortestKeepaliveInterval) }
    resolvedConfig =
      destination.resolver.findsServiceConfigs
      ? ResolvedConfig(
        callsWait: options.waitForReady,
        routesCalls: destination.resolver is any RoutingResolver
      ) : nil
    balancer = try ChannelBalancer(
      target,
      destination.resolver,
      options.balancing,
      serviceConfig: options.serviceConfig,
      eventLoop: loop,
      time: LoopTime(loop: loop),
      metrics: (options.observer as? any TelemetryObserver)?.metrics(target: target.canonical)
    )
    mistakes = ChannelMistakes(options, loop, singleCalls)
    let remarks =
      options.remarks + destination.remarks(on: options.resolvers) + (destination.tls?.latest?.remarks ?? [])
    for remark in remarks { options.logger.log(remark, of: "ChannelOptions", ["target": text]) }
    balancer.owner = self
    resolvedConfig?.observe { [weak self] in self?.awaitsConfigChanged() }
  }

  deinit { mistakes.end() }

  package var host: String { destination.text }

  package var eventLoop: any EventLoop { loop }
  package var streamBufferSize: Int { options.streamBufferSize }

  package func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    ClientCallStream(consume request, receiver, self)
  }

  var sessionSettings: SessionSettings {
    SessionSettings(
      streamWindow: options.streamLookahead,
      connectionWindow: options.connectionWindow,
      windowLimit: min(options.maxWindow, Int(Int32.max)),
      unreadLimit: options.connectionBufferSize,
      maxHeaderListSize: options.maxMetadataSize,
      isServer: false,
      headerTableSize: options.hpackTableSizeDecoder,
      maxEncoderTableSize: options.hpackTableSizeEncoder,
      controlFrameAllowance: options.controlFrameAllowance
    )
  }

  /// All connections, in the order in which they were made.
  var connections: [ClientConnection] {
    subchannels.values.flatMap(\.connections).sorted { $0.number < $1.number }
  }

  // MARK: Calls

  /// Spins for a response, to avoid the cost of being woken for it. Does nothing on the loop, which the response needs.
  func poll(until isReady: () -> Bool) {
    guard !loop.inEventLoop else { return }
    CallerSpin.ofProcess.poll(urgent: options.lowLatency, until: isReady)
  }

  /// How often a retried call asks the picker for a server that it has not used yet.
  private static let otherServerTries = 10

  /// Returns a connection for a call. Returns `nil` if none has room; the call is then queued, and is opened when one
  /// has.
  func connection(for call: ClientCallStream) throws(GRPCStatus) -> ClientConnection? {
    if state == .shutdown { throw ending.status }
    var tries = 0
    while true {
      let picker = balancer.picker
      switch picker.pick(call) {
      case .subchannel(let picked, let tracker):
        guard let subchannel = picked as? HTTP2Subchannel else { throw .foreignSubchannel }
        let isUsable = subchannel.state.connectivity == .ready || call.waits(at: subchannel)
        tries += 1
        if isUsable, call.wasSent(to: subchannel), tries < Self.otherServerTries {
          tracker?.callEnded(CallOutcome(status: nil))
          continue
        }
        guard isUsable else {
          tracker?.callEnded(CallOutcome(status: nil))
          waiting.mayFailFast()
          try wait(call)
          return nil
        }
        call.assign(to: subchannel, tracker)
        return try subchannel.connection(for: call)
      case .wait:
        // The pick may have started a connection that failed at once.
        if balancer.picker !== picker, tries < Self.otherServerTries {
          tries += 1
          continue
        }
        waiting.mayFailFast()
        try wait(call)
      case .fail(let status):
        guard call.waitsForReady else { throw status }
        try wait(call)
      case .drop(let status): throw status
      }
      return nil
    }
  }

  private func wait(_ call: ClientCallStream) throws(GRPCStatus) {
    // The pick may have ended the call.
    guard call.isStarted else { return }
    try countWaiting()
    waiting.append(call, awaitingName: balancer.isResolving)
  }

  /// Counts one more call that waits. Throws if too many do.
  func countWaiting() throws(GRPCStatus) {
    try waiting.admit(limit: options.maxWaitingCalls)
    keepLoop()
  }

  /// Some calls do not wait at a server anymore.
  func stopWaiting(_ count: Int = 1) {
    waiting.leave(count)
    keepLoop()
  }

  /// Called when a call has ended while it waited, for a server or at one.
  func waitingCallDidClose(_ subchannel: HTTP2Subchannel?) {
    stopWaiting()
    if let subchannel { subchannel.waitingCallDidClose() } else { waiting.callDidEnd() }
  }

  /// Whether a connection is being opened.
  var isConnecting: Bool { subchannels.values.contains { $0.dialing != nil } }

  /// Asks the picker again for all calls that wait for a server.
  private func retryWaitingCalls() {
    let calls = waiting.takeForRetry(balancer.picker, nameIsResolved: !balancer.isResolving)
    guard !calls.isEmpty else { return }
    keepLoop()
    for call in calls { call.pickAgain() }
  }

  /// Whether calls wait for the resolver's service config before they reach the transport.
  var awaitsConfig: Bool { resolvedConfig?.isAwaited ?? false }

  private func awaitsConfigChanged() {
    loop.execute {
      self.keepLoop()
      guard self.awaitsConfig else { return self.wasUsed(at: self.loop.now) }
      if self.loop.hasEnded { self.resolvedConfig?.failed(.channelShutDown, isFinal: true) }
      if self.state == .idle { self.balancer.leaveIdle() }
    }
  }

  private func keepLoop() {
    let change = waiting.keepLoop(awaitsConfig: awaitsConfig)
    if change != 0 { loop.openHandles += change }
  }

  /// Doubles the keepalive interval, up to a maximum, because a server has complained about pings.
  func doubleKeepaliveInterval() {
    guard let interval = keepaliveInterval else { return }
    let longest = ChannelOptions.longestKeepaliveInterval
    // A server may complain on each connection. Doubling soon ends.
    guard interval < longest else { return }
    let longer = min(interval * 2, longest)
    keepaliveInterval = longer
    options.logger.log(
      .warning,
      "the server complained about too many keepalive pings",
      ["target": destination.serverName, "interval": "\(longer)"]
    )
  }

  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Connects without a call, unless there is a connection or the channel is connecting already.
  package func connect() {
    loop.execute {
      if self.state == .idle { self.balancer.leaveIdle() }
      guard self.state == .shutdown else { return }
      self.options.logger.log(
        .warning,
        "connect() was called after the channel was shut down: it connects nothing",
        ["target": self.host]
      )
    }
  }

  private func setState(_ new: ConnectivityState) {
    guard state != new, state != .shutdown else { return }
    let wasIdle = state == .idle
    state = new
    trace.add("\(new)")
    for watcher in watchers.withLock({ $0.change(to: new) }) {
      watcher.yield(new)
      if new == .shutdown { watcher.finish() }
    }
    if new == .idle { resolvedConfig?.forgetFailure() }
    if wasIdle { wasUsed(at: loop.now) }
  }

  // MARK: Shutting down

  package func shutDown(grace: Duration) async {
    let siblings = siblings.withLock { $0.close() }
    await withTaskGroup { closing in
      for sibling in siblings { closing.addTask { await sibling.shutDown(grace: grace) } }
      await shutDownAlone(grace)
    }
  }

  private func shutDownAlone(_ grace: Duration) async {
    let deadline = Task(executorPreference: loop) {
      try await self.loop.sleep(for: grace)
      self.loop.execute { self.closeAll(after: grace) }
    }
    await withCheckedContinuation { continuation in
      // If the loop has ended, the connections have closed with it.
      if !loop.add(.closure { self.beginShutDown(continuation) }) { continuation.resume() }
    }
    deadline.cancel()
    if grace > .zero { await loop.waitForGracefulCloses() }
  }

  package func retire() {
    for sibling in siblings.withLock({ $0.close() }) { sibling.retire() }
    loop.execute {
      if self.state != .shutdown { self.ending.wasReleased() }
      self.beginShutDown(nil)
    }
  }

  private func beginShutDown(_ continuation: CheckedContinuation<Void, Never>?) {
    if state == .ready { mistakes.channelEnds(after: calls, to: host, at: loop.now) }
    setState(.shutdown)
    idleness.cancel(on: loop)
    balancer.shutDown()
    // Subchannels that the policy did not shut down.
    for subchannel in subchannels.values { subchannel.shutDown() }
    resolvedConfig?.failed(ending.status, isFinal: true)
    retryWaitingCalls()
    if let continuation { ending.add(continuation) }
    resumeIfDrained()
  }

  /// A subchannel that was shut down has closed its last connection.
  func subchannelDidEnd(_ subchannel: HTTP2Subchannel) {
    subchannels[subchannel.number] = nil
    resumeIfDrained()
  }

  private func resumeIfDrained() {
    guard state == .shutdown, subchannels.isEmpty else { return }
    ending.complete()
  }

  private func closeAll(after grace: Duration) {
    let open = subchannels.values.reduce(0) { $0 + $1.openStreams }
    if open > 0, grace > .zero {
      options.logger.log(
        .warning,
        "calls were cut off, because they had not ended by the end of the shutdown's grace: read a call to its end, or cancel it",
        ["calls": "\(open)", "grace": grace.readable, "target": host]
      )
    }
    for subchannel in subchannels.values { subchannel.closeAll(.channelShutDown) }
  }
}

// MARK: Requests and reports of the balancer

extension HTTP2ClientTransport: ChannelBalancerOwner {
  package func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    // The name was resolved.
    if subchannels.isEmpty { lastFailure = nil }
    let subchannel = HTTP2Subchannel(self, number: nextNumber(), addresses, options, observer)
    subchannels[subchannel.number] = subchannel
    return subchannel
  }

  package func balancerChanged() {
    setState(balancer.state)
    retryWaitingCalls()
  }

  package func serviceConfigChanged() {
    // Calls of a resolver that routes wait for its router.
    if !(destination.resolver is any RoutingResolver) {
      resolvedConfig?.resolved(ResolvedConfig.Settings(balancer.serviceConfig))
    }
    for subchannel in subchannels.values { subchannel.healthCheckedServiceChanged() }
  }

  package func routerChanged() {
    if let router = balancer.router {
      resolvedConfig?.resolved(ResolvedConfig.Settings(balancer.serviceConfig, router))
    } else {
      resolvedConfig?.forget()
    }
  }

  package func resolvingFailed(_ status: GRPCStatus) {
    lastFailure = status
    resolvedConfig?.failed(status, isFinal: false)
  }

  package func resolvingAwaits(_ what: String) { resolvedConfig?.awaits(what) }

  package func balancerReports(_ event: String, isWarning: Bool) {
    trace.add(event, isWarning: isWarning)
    options.logger.log(isWarning ? .warning : .debug, event, ["target": host])
  }
}
