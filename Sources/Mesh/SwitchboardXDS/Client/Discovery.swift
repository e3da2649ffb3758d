import SwitchboardCall
import SwitchboardNetwork
import SwitchboardProtobuf

/// What a client asks its control planes for, and what it knows.
///
/// All that happens is told to a `DiscoveryState`, behind one lock. What is done about it under the lock only puts work into
/// queues, so that the order is the same everywhere; also what logs and metrics are told, which may take long.
final class Discovery: Sendable {
  /// Receives what becomes of a resource. Called under the lock: it only passes the update on.
  typealias Receiver = @Sendable (ResourceUpdate) -> Void

  /// A stream to a control plane. What comes of one that was closed is not heard any more.
  struct Stream: Hashable, Sendable {
    let server: ServerID
    fileprivate let number: Int
  }

  /// A control plane of which there is a channel.
  private struct Peer {
    let plane: ControlPlane
    let meter: DiscoveryMeter?
    var tally = DiscoveryTally()
    /// The stream that there is now.
    var stream: Stream?
    /// Wakes what sends its requests.
    var requests: AsyncStream<Void>.Continuation?
    /// Whether the log says of this stream that it has what nobody knows.
    var hasUnknownType = false

    mutating func begin(_ new: Stream, _ source: AsyncStream<Void>.Continuation) {
      (stream, requests, hasUnknownType) = (new, source, false)
    }

    /// The stream has ended, or is heard no more.
    mutating func endStream() {
      requests?.finish()
      (stream, requests) = (nil, nil)
    }
  }

  private struct State {
    var discovery: DiscoveryState
    var peers: [Peer?]
    var announcements = Announcements()
    /// Whether the metrics say other numbers of resources than there are.
    var countsAreNews = false
    var receivers: [DiscoveryState.WatchID: Receiver] = [:]
    var timers: [DiscoveryState.TimerID: Task<Void, Never>] = [:]
    var lastWatch = 0
    var lastStream = 0
    /// Where channels and timers run.
    var group: LoopGroup?
    var isEnded = false

    /// What to say next, if nobody is saying something.
    mutating func nextAnnouncement() -> Announcements.Batch? {
      announcements.next { batch in
        for server in peers.indices {
          guard let meter = peers[server]?.meter, let news = peers[server]?.tally.take() else { continue }
          batch.metrics.append((meter, news))
        }
        if countsAreNews { batch.counts = isEnded ? ResourceCounts() : discovery.counts }
        countsAreNews = false
      }
    }
  }

  private let table: ServerTable
  private let node: XDSBootstrap.Node
  private let environment: XDSEnvironment
  private let state: Locked<State>
  /// Used by the thread that says something.
  private let resources: Locked<ResourceMeter?>

  init(_ table: ServerTable, _ node: XDSBootstrap.Node, _ environment: XDSEnvironment) {
    self.table = table
    self.node = node
    self.environment = environment
    let meter = environment.metrics.flatMap { ResourceMeter($0) }
    let discovery = DiscoveryState(
      servers: table.servers.map { .init(name: $0.target, features: $0.features) },
      authorities: table.choices,
      counts: meter.map { _ in ResourceCounts() }
    )
    state = Locked(
      State(
        discovery: discovery,
        peers: Array(repeating: nil, count: table.servers.count),
        group: environment.group
      )
    )
    resources = Locked(meter)
  }

  /// Watches a resource until the watch is released. Throws if one of the authority's control planes can never be asked.
  func watch(
    _ key: ResourceKey,
    of authority: Int,
    _ receiver: @escaping Receiver
  ) throws(GRPCStatus) -> ResourceWatch {
    try makePeers(of: authority)
    return change { state in
      state.lastWatch += 1
      let id = state.lastWatch
      state.receivers[id] = receiver
      perform(state.discovery.watch(key, id, of: authority), &state)
      return ResourceWatch { self.unwatch(key, id) }
    }
  }

  /// Also those that are asked only if others cannot be: a mistake shows at once.
  private func makePeers(of authority: Int) throws(GRPCStatus) {
    for server in table.choices[authority].servers where state.withLock({ $0.peers[server] == nil }) {
      var environment = environment
      environment.group = try group()
      let plane = try ControlPlane(server, table.servers[server], node, environment)
      let meter = environment.metrics.flatMap { DiscoveryMeter($0, table.servers[server].target) }
      let isNeeded = state.withLock { state in
        // Another thread may have made it meanwhile, or ended all.
        guard !state.isEnded, state.peers[server] == nil else { return false }
        state.peers[server] = Peer(plane: plane, meter: meter)
        return true
      }
      if !isNeeded { plane.end() }
    }
  }

  private func group() throws(GRPCStatus) -> LoopGroup {
    let group: Result<LoopGroup, GRPCStatus> = state.withLock { state in
      do throws(GRPCStatus) {
        if let group = state.group { return .success(group) }
        let made = try LoopGroup()
        state.group = made
        return .success(made)
      } catch { return .failure(error) }
    }
    return try group.get()
  }

  private func unwatch(_ key: ResourceKey, _ id: DiscoveryState.WatchID) {
    // It is released after the lock: what it holds may end a watch in turn.
    _ = change { state in
      perform(state.discovery.unwatch(key, id), &state)
      return state.receivers.removeValue(forKey: id)
    }
  }

  /// What is known of each resource, by type and name.
  var records: [(key: ResourceKey, record: ResourceRecord)] {
    let records = state.withLock { $0.discovery.records }
    return records.sorted { $0.key.precedes($1.key) }
  }

  /// The control plane that an authority uses now.
  func controlPlane(of authority: Int) -> String? {
    state.withLock { $0.discovery.asked(authority).last }.map { table.servers[$0].target }
  }

  /// What reports calls to a control plane; `nil` if it was never asked.
  func reporter(_ server: ServerID) -> LoadReporter? {
    state.withLock { $0.peers.indices.contains(server) ? $0.peers[server]?.plane.reporter : nil }
  }

  /// Ends all streams, and their channels. Nothing is reported afterwards.
  func end() {
    let (planes, _) = change { state in
      state.isEnded = true
      let receivers = state.receivers
      state.receivers = [:]
      for timer in state.timers.values { timer.cancel() }
      state.timers = [:]
      let planes = state.peers.compactMap { $0?.plane }
      for server in state.peers.indices {
        state.peers[server]?.endStream()
        state.peers[server]?.tally.closed()
      }
      state.countsAreNews = true
      return (planes, receivers)
    }
    for plane in planes { plane.end() }
  }

  /// Changes the state, and says afterwards what there is to say.
  private func change<Value>(_ body: (inout State) -> Value) -> Value {
    let value = state.withLock(body)
    announce()
    return value
  }

  /// How many batches one thread says before another goes on. It may be a channel's loop, and a control plane that is refused all
  /// the time has always something to be said of it.
  private static let batchLimit = 4

  private func announce() {
    for _ in 0..<Self.batchLimit {
      guard let batch = state.withLock({ $0.nextAnnouncement() }) else { return }
      for line in batch.lines { line.logger.log(line.level, line.text) }
      for (meter, news) in batch.metrics { meter.record(news) }
      if let counts = batch.counts { resources.withLock { $0?.record(counts) } }
      state.withLock { $0.announcements.done() }
    }
    Task.detached { self.announce() }
  }

  /// Does what the state says, under the lock.
  private func perform(_ actions: [DiscoveryState.Action], _ state: inout State) {
    guard !state.isEnded else { return }
    for action in actions {
      switch action {
      case .tell(let watches, let update): for id in watches { state.receivers[id]?(update) }
      case .startTimer(let key, let timer, let delay): startTimer(key, timer, delay, &state)
      case .cancelTimer(let timer): state.timers.removeValue(forKey: timer)?.cancel()
      case .open(let server): state.peers[server]?.plane.open(self)
      case .close(let server):
        state.peers[server]?.endStream()
        state.peers[server]?.tally.closed()
        state.peers[server]?.plane.close()
      case .log(let server, let level, let text):
        guard let logger = state.peers[server]?.plane.logger else { continue }
        state.announcements.add(Announcements.Line(logger: logger, level: level, text: text))
      }
    }
    state.countsAreNews = state.discovery.counts != nil
    for server in state.peers.indices where state.discovery.hasRequest(server) {
      state.peers[server]?.requests?.yield()
    }
  }

  private func startTimer(
    _ key: ResourceKey,
    _ timer: DiscoveryState.TimerID,
    _ delay: Duration,
    _ state: inout State
  ) {
    guard let loop = state.group?.nextLoop() else { return }
    let end = environment.time.now.advanced(by: delay)
    state.timers[timer] = environment.time.alarm(at: end, on: loop) { [weak self] in
      self?.timeIsUp(key, timer)
    }
  }

  private func timeIsUp(_ key: ResourceKey, _ timer: DiscoveryState.TimerID) {
    change { state in
      state.timers[timer] = nil
      perform(state.discovery.timeIsUp(key, timer, at: .now()), &state)
    }
  }
}

// MARK: - What control planes tell

extension Discovery {
  /// A stream is opened: the stream, and what wakes those who send its requests. `nil` if the task was told meanwhile that the
  /// control plane is not asked any more.
  func opened(_ server: ServerID) -> (Stream, AsyncStream<Void>)? {
    change { state -> (Stream, AsyncStream<Void>)? in
      guard !Task.isCancelled, !state.isEnded else { return nil }
      let (requests, source) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      state.lastStream += 1
      let stream = Stream(server: server, number: state.lastStream)
      state.peers[server]?.begin(stream, source)
      state.peers[server]?.tally.opened()
      state.discovery.opened(server)
      perform([], &state)
      return (stream, requests)
    }
  }

  /// The next stream has to wait because the latest ones have failed.
  func postponed(_ server: ServerID, _ status: GRPCStatus) {
    change { state in
      guard !Task.isCancelled, !state.isEnded else { return }
      perform(state.discovery.postponed(server, status), &state)
    }
  }

  /// Tells what happens on a stream, unless it was closed.
  private func heard<Value>(_ stream: Stream, _ body: (inout State) -> Value) -> Value? {
    change { state in state.peers[stream.server]?.stream == stream ? body(&state) : nil }
  }

  func connected(_ stream: Stream) {
    _ = heard(stream) { state in perform(state.discovery.connected(stream.server), &state) }
  }

  func nextRequest(_ stream: Stream) -> DiscoveryRequest? {
    heard(stream) { state in state.discovery.nextRequest(stream.server) } ?? nil
  }

  /// Returns whether the stream has ended by itself, and then whether it has served.
  func ended(_ stream: Stream, _ status: GRPCStatus) -> Bool? {
    heard(stream) { state in
      let hasServed = state.discovery.hasReceived(stream.server)
      state.peers[stream.server]?.endStream()
      if !hasServed { state.peers[stream.server]?.tally.failed() }
      perform(state.discovery.ended(stream.server, status), &state)
      return hasServed
    }
  }

  func received(
    _ stream: Stream,
    _ type: ResourceType,
    version: String,
    nonce: String,
    _ reads: [ResourceReader.Read],
    _ errors: [Result<ResourceError, ResourceFault>]
  ) {
    _ = heard(stream) { state in
      state.peers[stream.server]?.tally.received(type, reads, errors: errors.count)
      let actions = state.discovery.received(
        stream.server,
        type,
        version: version,
        nonce: nonce,
        reads,
        errors,
        at: .now()
      )
      perform(actions, &state)
    }
  }

  func refused(_ stream: Stream, _ type: ResourceType, nonce: String, _ fault: ResourceFault) {
    _ = heard(stream) { state in
      perform(state.discovery.refused(stream.server, type, nonce: nonce, fault), &state)
    }
  }

  /// Returns whether it is the stream's first response of a type that nobody knows.
  func receivedUnknownType(_ stream: Stream) -> Bool {
    heard(stream) { state in
      defer { state.peers[stream.server]?.hasUnknownType = true }
      return state.peers[stream.server]?.hasUnknownType == false
    } ?? false
  }
}

/// Ends a watch when it is released.
final class ResourceWatch: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
