import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardProtobuf
import SwitchboardSchema
import SwitchboardServiceMessages
import SwitchboardText
import SwitchboardTransport
import XDSMessages

/// A control plane that is asked for resources: its channel, the stream of requests and responses, and what is known of it.
///
/// All that happens is told to a `DiscoveryState`, behind one lock. What is done about it under the lock only puts work into
/// queues, so that the order is the same everywhere.
final class ControlPlane: Sendable {
  /// Receives what becomes of a resource. Called under the lock: it only passes the update on.
  typealias Receiver = @Sendable (ResourceUpdate) -> Void

  private struct State {
    var discovery: DiscoveryState
    var meter: DiscoveryMeter?
    var receivers: [DiscoveryState.WatchID: Receiver] = [:]
    var timers: [DiscoveryState.TimerID: Task<Void, Never>] = [:]
    var lastWatch = 0
    /// Whether the log says of this stream that it has what nobody knows.
    var hasUnknownType = false
    /// Wakes what sends the requests of the current stream.
    var requests: AsyncStream<Void>.Continuation?
    var running: Task<Void, Never>?
    var isEnded = false
  }

  /// A response may be as large as that.
  private static let responseSizeLimit = 64 * 1024 * 1024
  /// Streams that serve and end follow each other no faster than that.
  private static let shortestLife = Duration.milliseconds(100)

  private let channel: Channel
  /// What each stream says of this client; `nil` if that is nothing.
  private let token: TokenFile?
  private let node: Envoy_Config_Core_V3_Node
  private let reader: ResourceReader
  let reporter: LoadReporter
  private let time: any CallTime
  private let logger: Logger
  private let state: Locked<State>

  /// Throws `INVALID_ARGUMENT` for a target that is none, and for a token that could be read on its way.
  init(
    _ server: XDSBootstrap.Server,
    _ node: XDSBootstrap.Node,
    _ environment: XDSEnvironment
  ) throws(GRPCStatus) {
    guard server.tokenFile == nil || server.security != .plaintext else {
      throw GRPCStatus(
        code: .invalidArgument,
        message:
          "the control plane \(server.target.excerpt) has a token, which is not sent in plaintext: it needs TLS"
      )
    }
    token = server.tokenFile.map { TokenFile(path: $0) }
    var options = environment.options
    options.security = server.security
    options.responseSizeLimit = Self.responseSizeLimit
    options.keepaliveInterval = .seconds(300)
    options.idleTimeout = nil
    channel = try Channel(target: server.target, options: options, group: environment.group)
    self.node = node.message
    reader = environment.reader
    time = environment.time
    logger = environment.options.logger.adding(["control-plane": server.target])
    reporter = LoadReporter(channel, token, self.node, time, logger)
    let meter = environment.metrics.flatMap { DiscoveryMeter($0, server.target) }
    let discovery = DiscoveryState(features: server.features, counts: meter.map { _ in ResourceCounts() })
    state = Locked(State(discovery: discovery, meter: meter))
  }

  /// Watches a resource until the watch is released.
  func watch(_ key: ResourceKey, _ receiver: @escaping Receiver) -> ResourceWatch {
    state.withLock { state in
      state.lastWatch += 1
      let id = state.lastWatch
      state.receivers[id] = receiver
      perform(state.discovery.watch(key, id), &state)
      if state.running == nil, !state.isEnded {
        state.running = Task(executorPreference: channel.eventLoop) { await self.run() }
      }
      return ResourceWatch { self.unwatch(key, id) }
    }
  }

  private func unwatch(_ key: ResourceKey, _ id: DiscoveryState.WatchID) {
    // It is released after the lock: what it holds may end a watch in turn.
    _ = state.withLock { state in
      perform(state.discovery.unwatch(key, id), &state)
      return state.receivers.removeValue(forKey: id)
    }
  }

  /// What is known of each resource, by type and name.
  var records: [(key: ResourceKey, record: ResourceRecord)] {
    let records = state.withLock { $0.discovery.records }
    return records.sorted { first, second in
      first.key.type == second.key.type
        ? first.key.name.text.precedes(second.key.name.text)
        : first.key.type.rawValue < second.key.type.rawValue
    }
  }

  /// Ends the stream and its channel. Nothing is reported afterwards.
  func end() {
    reporter.end()
    let (running, _) = state.withLock { state in
      state.isEnded = true
      let receivers = state.receivers
      state.receivers = [:]
      for timer in state.timers.values { timer.cancel() }
      state.timers = [:]
      state.requests?.finish()
      state.meter?.ended()
      state.meter = nil
      return (state.running, receivers)
    }
    running?.cancel()
  }

  /// Does what the state says, under the lock.
  private func perform(_ actions: [DiscoveryState.Action], _ state: inout State) {
    for action in actions {
      switch action {
      case .tell(let watches, let update): for id in watches { state.receivers[id]?(update) }
      case .startTimer(let key, let timer, let delay):
        let end = time.now.advanced(by: delay)
        state.timers[timer] = time.alarm(at: end, on: channel.eventLoop) { [weak self] in
          self?.timeIsUp(key, timer)
        }
      case .cancelTimer(let timer): state.timers.removeValue(forKey: timer)?.cancel()
      case .log(let level, let message): logger.log(level, message)
      }
    }
    if let counts = state.discovery.counts { state.meter?.record(counts) }
    if state.discovery.hasRequest { state.requests?.yield() }
  }

  private func timeIsUp(_ key: ResourceKey, _ timer: DiscoveryState.TimerID) {
    state.withLock { state in
      state.timers[timer] = nil
      perform(state.discovery.timeIsUp(key, timer, at: .now()), &state)
    }
  }

  // MARK: The stream

  /// Keeps a stream open, until the task is cancelled.
  private func run() async {
    var backoff = Backoff(initial: .seconds(1), maximum: .seconds(120))
    var random = SystemRandomNumberGenerator()
    while !Task.isCancelled {
      let start = time.now
      let status = await serve()
      guard !Task.isCancelled else { break }
      let hasServed = state.withLock { state in
        state.requests?.finish()
        state.requests = nil
        perform(state.discovery.ended(status), &state)
        if !state.discovery.hasReceived { state.meter?.failed() }
        return state.discovery.hasReceived
      }
      logger.log(hasServed ? .info : .warning, "the stream has ended: \(status)")
      var delay = Duration.zero
      if hasServed { backoff.reset() } else { delay = backoff.next(using: &random) }
      let next = max(start.advanced(by: Self.shortestLife), time.now.advanced(by: delay))
      guard (try? await time.sleep(until: next, on: channel.eventLoop)) != nil else { break }
    }
    await channel.shutDown(grace: .zero)
  }

  /// One stream, to its end.
  private func serve() async -> GRPCStatus {
    let client = Envoy_Service_Discovery_V3_AggregatedDiscoveryServiceClient(channel: channel)
    var options = CallOptions()
    options.authTokenProvider = token
    let call = client.makeStreamAggregatedResourcesCall(callOptions: options)
    let (requests, source) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      state.requests = source
      state.hasUnknownType = false
      state.discovery.opened()
      state.meter?.opened()
      perform([], &state)
    }
    return await withTaskGroup { helpers in
      helpers.addTask { try? await self.send(requests, call.requestStream) }
      helpers.addTask { await self.noteConnection() }
      defer { helpers.cancelAll() }
      do {
        for try await response in call.responseStream { take(response) }
        return await call.status
      } catch { return (error as? GRPCStatus) ?? GRPCStatus(code: .unknown, message: "\(error)") }
    }
  }

  /// Sends what is due whenever it is woken.
  private func send(
    _ requests: AsyncStream<Void>,
    _ writer: RequestStreamWriter<Envoy_Service_Discovery_V3_DiscoveryRequest>
  ) async throws {
    for await _ in requests {
      while let request = state.withLock({ $0.discovery.nextRequest() }) {
        try await writer.send(request.message(node))
      }
    }
  }

  private func noteConnection() async {
    for await state in channel.connectivity where state == .ready {
      self.state.withLock { state in perform(state.discovery.connected(), &state) }
      return
    }
  }

  private func take(_ response: Envoy_Service_Discovery_V3_DiscoveryResponse) {
    guard let type = ResourceType(typeURL: response.typeURL) else {
      let wasUnknown = state.withLock { state in
        defer { state.hasUnknownType = true }
        return state.hasUnknownType
      }
      guard !wasUnknown else { return }
      return logger.log(
        .warning,
        "a response has resources of an unknown type: \(response.typeURL.excerpt)"
      )
    }
    guard response.resources.count <= ResourceReader.countLimit else {
      return state.withLock { state in
        perform(state.discovery.refused(type, nonce: response.nonce, .tooManyResources), &state)
      }
    }
    // Before the lock: this takes longest.
    let reads = reader.read(response.resources, of: type)
    state.withLock { state in
      state.meter?.received(type, reads)
      let actions = state.discovery.received(
        type,
        version: response.versionInfo,
        nonce: response.nonce,
        reads,
        at: .now()
      )
      perform(actions, &state)
    }
  }
}

/// Ends a watch when it is released.
final class ResourceWatch: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}

extension DiscoveryRequest {
  fileprivate func message(
    _ node: Envoy_Config_Core_V3_Node
  ) -> Envoy_Service_Discovery_V3_DiscoveryRequest {
    .with { message in
      message.typeURL = type.typeURL
      message.resourceNames = names
      message.versionInfo = version
      message.responseNonce = nonce
      if isFirst { message.node = node }
      guard let refusal else { return }
      message.errorDetail = .with {
        $0.code = Int32(GRPCStatus.Code.invalidArgument.rawValue)
        $0.message = refusal
      }
    }
  }
}

extension XDSBootstrap.Node {
  /// As control planes see it.
  var message: Envoy_Config_Core_V3_Node {
    .with { message in
      message.id = id
      message.cluster = cluster
      if !metadata.isEmpty { message.metadata = .with { $0.fields = metadata.mapValues(\.message) } }
      if !region.isEmpty || !zone.isEmpty || !subZone.isEmpty {
        message.locality = .with { ($0.region, $0.zone, $0.subZone) = (region, zone, subZone) }
      }
      message.userAgentName = "switchboard"
      message.userAgentVersion = Release.version
      message.clientFeatures = ["envoy.lb.does_not_support_overprovisioning", "xds.config.resource-in-sotw"]
    }
  }
}
