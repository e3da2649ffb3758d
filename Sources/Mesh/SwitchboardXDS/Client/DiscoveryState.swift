import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText

/// What becomes of a resource that somebody watches.
enum ResourceUpdate: Sendable {
  /// It is there, or it cannot be had; then what was known of it before counts no more.
  case resource(Result<Resource, GRPCStatus>)
  /// What is known still counts, although this has happened since; `nil`: not any more.
  case ambient(GRPCStatus?)
}

/// The client's side of the protocol between a client and its control planes, state of the world, as a value: it gets what happens,
/// and returns what to do. Requests are due until `nextRequest` is asked for them, so that many changes make one.
///
/// It puts three others together: a `StreamState` for each control plane, a `ServerChoice` for each authority, which says who is
/// asked and whose answers count, and the `ResourceCache`.
struct DiscoveryState: Sendable {
  /// What the caller has to do, in this order.
  enum Action: Sendable {
    case tell([WatchID], ResourceUpdate)
    /// Calls `timeIsUp` after a while, unless it is cancelled first.
    case startTimer(ResourceKey, TimerID, Duration)
    case cancelTimer(TimerID)
    /// Keeps a stream open to the control plane, from now on: it is opened again when it has ended.
    case open(ServerID)
    /// Closes the stream. What it still brings is not told.
    case close(ServerID)
    case log(ServerID, LogLevel, String)
  }

  typealias WatchID = Int
  typealias TimerID = Int

  /// What is known of a control plane from the start.
  struct Server: Sendable {
    /// For messages.
    var name = ""
    var features: Set<XDSBootstrap.Feature> = []

    /// How long it may take to send a resource.
    var patience: Duration { features.contains(.resourceTimerIsTransientError) ? .seconds(30) : .seconds(15) }
  }

  private let servers: [Server]
  private var streams: [StreamState]
  private var authorities: [ServerChoice]
  private var cache: ResourceCache

  /// An authority is a position in `authorities`, and a `ServerID` one in `servers`.
  init(servers: [Server], authorities: [ServerChoice], counts: ResourceCounts? = nil) {
    self.servers = servers
    self.authorities = authorities
    streams = Array(repeating: StreamState(), count: servers.count)
    cache = ResourceCache(authorities: authorities.count, counts: counts)
  }

  /// The resource that is known. For tests and for those who look on.
  func resource(_ key: ResourceKey) -> Resource? { cache.resource(key) }

  /// What is known of each resource that somebody watches, by type.
  var records: [(key: ResourceKey, record: ResourceRecord)] { cache.records }

  /// How many resources there are, for metrics; `nil`: nobody wants to know.
  var counts: ResourceCounts? { cache.counts }

  /// Those of an authority that are asked, the one in use last.
  func asked(_ authority: Int) -> [ServerID] { Array(authorities[authority].asked) }

  // MARK: Watches

  mutating func watch(_ key: ResourceKey, _ id: WatchID, of authority: Int) -> [Action] {
    let (isNew, story) = cache.watch(key, id, of: authority)
    guard isNew else { return story }
    var actions = change(authority) { $0.begin() }
    actions += fallBack(authority, for: key)
    for server in authorities[authority].asked { streams[server].ask(key.type) }
    if let reason = lossReason(of: authority) { return actions + cache.lose(key, reason) }
    if let server = authorities[authority].inUse, streams[server].isConnected {
      actions += cache.startTimer(key, servers[server].patience)
    }
    return actions
  }

  mutating func unwatch(_ key: ResourceKey, _ id: WatchID) -> [Action] {
    guard let authority = cache.authority(of: key) else { return [] }
    let (isGone, actions) = cache.unwatch(key, id)
    guard isGone else { return actions }
    for server in authorities[authority].asked { streams[server].ask(key.type) }
    guard cache.isEmpty(authority) else { return actions }
    return actions + change(authority) { $0.end() }
  }

  // MARK: Requests

  /// Whether `nextRequest` has one.
  func hasRequest(_ server: ServerID) -> Bool { streams[server].hasRequest }

  /// The next request to send on the stream to a control plane.
  mutating func nextRequest(_ server: ServerID) -> DiscoveryRequest? {
    let isAsking = authorities.map { $0.asks(server) }
    return streams[server].nextRequest { [cache] in cache.names($0, of: isAsking) }
  }

  private mutating func askAll(_ server: ServerID, of isAsking: [Bool]) {
    for type in ResourceType.allCases where cache.hasEntries(type, of: isAsking) { streams[server].ask(type) }
  }

  // MARK: Streams

  /// A stream was opened: it can take requests, although it may not be connected yet.
  mutating func opened(_ server: ServerID) {
    streams[server].opened()
    askAll(server, of: authorities.map { $0.asks(server) })
  }

  /// The stream has a connection. From now on, the control plane's time counts.
  mutating func connected(_ server: ServerID) -> [Action] {
    streams[server].connected() ? startTimers(server) : []
  }

  private mutating func startTimers(_ server: ServerID) -> [Action] {
    authorities.indices.filter { authorities[$0].inUse == server }
      .flatMap { cache.startTimers(of: $0, servers[server].patience) }
  }

  /// The stream has ended. If it has served, nobody is told.
  mutating func ended(_ server: ServerID, _ status: GRPCStatus) -> [Action] {
    guard streams[server].isOpen else { return [] }
    streams[server].ended(status)
    var actions: [Action] = []
    for authority in authorities.indices where authorities[authority].inUse == server {
      actions += cache.cancelTimers(of: authority)
    }
    return streams[server].failure == nil ? actions : actions + failed(server)
  }

  /// The control plane, which is to be asked again, has failed too often of late: its next stream has to wait.
  mutating func postponed(_ server: ServerID, _ status: GRPCStatus) -> [Action] {
    guard !streams[server].isOpen else { return [] }
    streams[server].postponed(status)
    return failed(server)
  }

  private mutating func failed(_ server: ServerID) -> [Action] {
    var actions: [Action] = []
    for authority in authorities.indices where authorities[authority].inUse == server {
      actions += fallBack(authority, for: cache.firstUnknown(of: authority))
      if let reason = lossReason(of: authority) { actions += cache.lose(authority, reason) }
    }
    return actions
  }

  /// Whether the latest stream has brought a response.
  func hasReceived(_ server: ServerID) -> Bool { streams[server].hasReceived }

  mutating func timeIsUp(
    _ key: ResourceKey,
    _ timer: TimerID,
    at time: Google_Protobuf_Timestamp = Google_Protobuf_Timestamp()
  ) -> [Action] {
    guard let authority = cache.timerFired(key, timer), let server = authorities[authority].inUse else {
      return []
    }
    let isSlow = servers[server].features.contains(.resourceTimerIsTransientError)
    let status: GRPCStatus = isSlow ? .slow(key) : .missing(key)
    let failure = ResourceRecord.Failure(reason: status.message ?? "", time: time)
    cache.note(key, isSlow ? .late : .missing, failure)
    return cache.fail(key, status)
  }

  // MARK: Responses

  /// A response has come at `time`, with its resources read, and what it says in place of others.
  mutating func received(
    _ server: ServerID,
    _ type: ResourceType,
    version: String,
    nonce: String,
    _ reads: [ResourceReader.Read],
    _ errors: [Result<ResourceError, ResourceFault>] = [],
    at time: Google_Protobuf_Timestamp = Google_Protobuf_Timestamp()
  ) -> [Action] {
    guard streams[server].isOpen else { return [] }
    // What answers is connected.
    let wasConnected = streams[server].isConnected
    streams[server].answered()
    var actions = comeBack(server, type, reads)
    var outcome = ResponseOutcome(
      type: type,
      version: version,
      time: time,
      isUsing: authorities.map { $0.inUse == server },
      drops: servers[server].features.contains(.failOnDataErrors)
    )
    outcome.take(reads, errors, by: &cache)
    for authority in outcome.served { forgetVersions(type, of: authority, but: server) }
    actions += outcome.actions + outcome.remarks.lines.map { .log(server, $0.level, $0.text) }
    let isNews = streams[server].answer(
      type,
      nonce: nonce,
      version: outcome.refusals.isEmpty ? version : nil,
      refusal: outcome.refusals.text
    )
    if isNews, let text = outcome.refusals.text {
      actions.append(.log(server, .warning, "refused of version \(version.excerpt): \(text.excerpt(1000))"))
    }
    return wasConnected ? actions : actions + startTimers(server)
  }

  /// A response is refused as a whole, and changes nothing.
  mutating func refused(
    _ server: ServerID,
    _ type: ResourceType,
    nonce: String,
    _ fault: ResourceFault
  ) -> [Action] {
    guard streams[server].isOpen else { return [] }
    let wasConnected = streams[server].isConnected
    streams[server].answered()
    var actions = comeBack(server, type, [])
    let reason = fault.description
    if streams[server].answer(type, nonce: nonce, version: nil, refusal: reason) {
      actions.append(.log(server, .warning, "refused: \(reason)"))
    }
    return wasConnected ? actions : actions + startTimers(server)
  }

  /// What other control planes have sent is not used any more, so that they are not told that it was.
  private mutating func forgetVersions(_ type: ResourceType, of authority: Int, but server: ServerID) {
    for other in authorities[authority].servers where other != server { streams[other].forgetVersion(type) }
  }

  // MARK: The choice of control planes

  /// Changes who is asked for the resources of an authority.
  private mutating func change(_ authority: Int, _ body: (inout ServerChoice) -> Void) -> [Action] {
    let old = authorities[authority]
    body(&authorities[authority])
    let new = authorities[authority]
    guard new != old else { return [] }
    var actions: [Action] = []
    let isOwn = authorities.indices.map { $0 == authority }
    for server in new.asked.dropFirst(old.asked.count) {
      if isAsked(server, beside: authority) {
        askAll(server, of: isOwn)
      } else {
        actions.append(.open(server))
      }
    }
    for server in old.asked.dropFirst(new.asked.count) {
      if isAsked(server, beside: authority) {
        askAll(server, of: isOwn)
      } else {
        streams[server].closed()
        actions.append(.close(server))
      }
    }
    // Another one's time counts.
    actions += cache.cancelTimers(of: authority)
    if let server = new.inUse, streams[server].isConnected {
      actions += cache.startTimers(of: authority, servers[server].patience)
    }
    return actions
  }

  private func isAsked(_ server: ServerID, beside authority: Int) -> Bool {
    authorities.indices.contains { $0 != authority && authorities[$0].asks(server) }
  }

  /// Asks another control plane if the one in use cannot be asked, and that matters. `unknown` is a resource of which nothing is known.
  private mutating func fallBack(_ authority: Int, for unknown: ResourceKey?) -> [Action] {
    guard let old = authorities[authority].inUse, let failure = streams[old].failure,
      !cache.isEmpty(authority), authorities[authority].isByReachability || unknown != nil
    else { return [] }
    let hasFailed = streams.map { $0.failure != nil }
    let actions = change(authority) { $0.moveOn { hasFailed[$0] } }
    guard let new = authorities[authority].inUse, new != old else { return actions }
    let need = unknown.map { "the \($0) is needed" } ?? "fallback_on_reachability_only is set"
    let line =
      "it cannot be asked, and \(need): the control plane \(servers[new].name.excerpt) is used in its place: "
      + failure.reasonOfLoss
    return [.log(old, .warning, line)] + actions
  }

  /// Returns to a control plane that has answered: with something that is watched, or because none else can be asked.
  private mutating func comeBack(
    _ server: ServerID,
    _ type: ResourceType,
    _ reads: [ResourceReader.Read]
  ) -> [Action] {
    let waiting = authorities.indices.filter {
      authorities[$0].asks(server) && authorities[$0].inUse != server
    }
    guard !waiting.isEmpty else { return [] }
    var isServed = Array(repeating: false, count: authorities.count)
    for case (let name?, .success) in reads.lazy.map({ ($0.name, $0.result) }) {
      if let authority = cache.authority(of: ResourceKey(type, name)) { isServed[authority] = true }
    }
    var actions: [Action] = []
    for authority in waiting {
      guard isServed[authority] else {
        actions += fallBack(authority, for: cache.firstUnknown(of: authority))
        continue
      }
      let old = authorities[authority].inUse
      actions += change(authority) { $0.answered(server) }
      guard let old else { continue }
      let line = "it answers again, and is used in place of the control plane \(servers[old].name.excerpt)"
      actions.append(.log(server, .info, line))
    }
    return actions
  }

  /// Why no control plane can be asked; `nil` if one can.
  private func lossReason(of authority: Int) -> GRPCStatus? {
    let all = authorities[authority].servers
    let failures = all.compactMap { server in streams[server].failure.map { (servers[server].name, $0) } }
    return failures.count == all.count ? .controlPlanesLost(failures) : nil
  }
}
