import SwitchboardBalancing
import SwitchboardText

/// Keeps the calls of a session at one server of a cluster, whatever the policies below choose for other calls (gRFCs A55, A60 and A75).
///
/// The servers are those of the policies, while they have them. One that they do not have, or have no more, is kept here as long as
/// sessions use it. Confined to the channel's loop.
final class SessionServers: Picker {
  typealias Make = ([EndpointAddress], SubchannelOptions, any SubchannelObserver) -> (any Subchannel)?

  /// A server, and who has a connection to it.
  private final class Entry {
    let endpoint: Endpoint
    let isAllowed: Bool
    let idleTimeout: Duration
    /// That of the policies.
    var theirs: SessionSubchannel?
    /// The one that is kept here.
    var own: SessionSubchannel?
    /// When a session last asked for it.
    var lastUse: Duration?

    init(_ endpoint: Endpoint, isAllowed: Bool, idleTimeout: Duration) {
      self.endpoint = endpoint
      self.isAllowed = isAllowed
      self.idleTimeout = idleTimeout
    }

    func isWanted(at now: Duration) -> Bool { isAllowed && (lastUse.map { now - $0 < idleTimeout } ?? false) }
  }

  /// Servers are not looked for more often that no session needs.
  private static let shortestPause = Duration.seconds(5)

  private let host: any BalancerHost
  private let make: Make
  private var entries: [ExactText: Entry] = [:]
  private var lists: [ExactText: String] = [:]
  private var child: any Picker = ConstantPicker(.wait)
  private var timer: (any ScheduledAction)?
  /// Whether calls have sessions.
  private(set) var isActive = false

  init(_ host: any BalancerHost, _ make: @escaping Make) {
    self.host = host
    self.make = make
  }

  /// Takes other servers, before the policies do. Returns whether the policies need other connections, which are looked at from now
  /// on, or no more.
  func update(_ leaf: LeafConfig?) -> Bool {
    let wasActive = isActive
    isActive = leaf?.keepsSessions ?? false
    guard isActive || wasActive else { return false }
    let before = entries
    (entries, lists) = ([:], [:])
    var kept: Set<ObjectIdentifier> = []
    if let leaf, isActive {
      for (endpoint, health) in leaf.places.lazy.flatMap(\.withHealth) {
        let keys = endpoint.addresses.map { ExactText($0.bare.description) }
        guard let key = keys.first else { continue }
        let entry = Entry(
          endpoint,
          isAllowed: leaf.cluster.sessionHealth.contains(health),
          idleTimeout: leaf.cluster.idleTimeout
        )
        if let old = before[key], old.endpoint.addresses == endpoint.addresses {
          (entry.theirs, entry.own, entry.lastUse) = (old.theirs, old.own, old.lastUse)
          kept.insert(ObjectIdentifier(old))
          if !entry.isAllowed { drop(entry) }
        }
        for key in keys { entries[key] = entry }
        guard keys.count > 1 else { continue }
        let list = keys.map(\.text).joined(separator: ",")
        for key in keys { lists[key] = list }
      }
    }
    for entry in before.values where !kept.contains(ObjectIdentifier(entry)) { drop(entry) }
    return isActive != wasActive
  }

  private func drop(_ entry: Entry) {
    // First, so that the calls that it returns do not find it.
    let own = entry.own
    entry.own = nil
    own?.end()
  }

  /// Ends what is kept here, and keeps nothing of what the policies have now.
  func forgetServers() {
    timer?.cancel()
    timer = nil
    for entry in entries.values {
      entry.theirs = nil
      drop(entry)
    }
  }

  /// Calls come no more. The policies' picker may be what retains this.
  func shutDown() {
    forgetServers()
    child = ConstantPicker(.wait)
  }

  // MARK: For the policies

  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    let server = SessionSubchannel(self, observer)
    server.start(make(addresses, options, server), addresses)
    took(server)
    return server
  }

  /// The policies have a server. One of several endpoints is none that a session could be at.
  private func took(_ server: SessionSubchannel) {
    guard let entry = entry(of: server) else { return }
    entry.theirs = server
    drop(entry)
  }

  private func entry(of server: SessionSubchannel) -> Entry? {
    guard let first = server.addresses.first, let entry = entries[first.bare.description],
      Set(entry.endpoint.addresses) == Set(server.addresses)
    else { return nil }
    return entry
  }

  fileprivate func addressesChanged(_ server: SessionSubchannel, from old: [EndpointAddress]) {
    for address in old {
      guard let entry = entries[address.bare.description], entry.theirs === server else { continue }
      entry.theirs = nil
    }
    took(server)
  }

  /// The policies have no use for a server any more. Returns whether sessions have.
  fileprivate func keeps(_ server: SessionSubchannel) -> Bool {
    guard let entry = entry(of: server), entry.theirs === server else { return false }
    entry.theirs = nil
    guard entry.isWanted(at: host.time.now) else { return false }
    entry.own = server
    startTimer()
    return true
  }

  // MARK: Calls

  /// What chooses for a call, over the policies' picker.
  func picker(over child: any Picker, for call: any CallToPick) -> any Picker {
    guard isActive else { return child }
    if call.route?.session == nil, let constant = child as? ConstantPicker, constant.waits { return child }
    self.child = child
    return self
  }

  func pick(_ call: any CallToPick) -> Pick {
    if let session = call.route?.session as? CookieSession {
      session.mayGo(to: lists)
      if let pick = pick(session) { return pick }
    }
    let pick = child.pick(call)
    guard case .subchannel(let chosen, let tracker) = pick, let inner = (chosen as? SessionSubchannel)?.inner
    else { return pick }
    return .subchannel(inner, tracker: tracker)
  }

  /// The server of a session, at which the call waits if it is connecting; `nil` if the policies choose.
  private func pick(_ session: CookieSession) -> Pick? {
    var (connecting, idle): (SessionSubchannel?, SessionSubchannel?)
    var missing: Entry?
    for address in session.wanted {
      guard let entry = entries[address], entry.isAllowed else { continue }
      entry.lastUse = host.time.now
      guard let server = entry.theirs ?? entry.own, let inner = server.inner else {
        missing = missing ?? entry
        continue
      }
      switch inner.state.connection {
      case .ready: return .subchannel(inner)
      case .idle: idle = idle ?? server
      case .connecting: connecting = connecting ?? server
      case .transientFailure, .shutdown: break
      }
    }
    if connecting == nil, let server = idle ?? missing.map(open) {
      server.connect()
      connecting = server
    }
    // It may have failed at once.
    guard let inner = connecting?.inner, [.connecting, .ready].contains(inner.state.connection) else {
      return nil
    }
    return .subchannel(inner)
  }

  private func open(_ entry: Entry) -> SessionSubchannel {
    var options = SubchannelOptions()
    options.checksHealth = false
    let server = SessionSubchannel(self, nil)
    server.start(make(entry.endpoint.addresses, options, server), entry.endpoint.addresses)
    entry.own = server
    startTimer()
    return server
  }

  // MARK: Servers that no session needs

  private func startTimer() {
    guard timer == nil else { return }
    let now = host.time.now
    let ends = entries.values.compactMap { entry in
      entry.own.flatMap { _ in entry.lastUse.map { $0 + entry.idleTimeout - now } }
    }
    guard let first = ends.min() else { return }
    timer = host.time.schedule(after: max(first, Self.shortestPause)) { [weak self] in self?.sweep() }
  }

  private func sweep() {
    timer = nil
    let now = host.time.now
    // Calls may wait at one that is connecting, and it says what becomes of it.
    for entry in entries.values where !entry.isWanted(at: now) && entry.own?.state.connection != .connecting {
      drop(entry)
    }
    startTimer()
  }
}

/// A server that the calls of sessions may stay at.
final class SessionSubchannel: Subchannel, SubchannelObserver {
  private(set) var inner: (any Subchannel)?
  private(set) var addresses: [EndpointAddress] = []
  private let servers: SessionServers
  /// `nil` if no policy has it.
  private var observer: (any SubchannelObserver)?

  init(_ servers: SessionServers, _ observer: (any SubchannelObserver)?) {
    self.servers = servers
    self.observer = observer
  }

  func start(_ inner: (any Subchannel)?, _ addresses: [EndpointAddress]) {
    self.inner = inner
    self.addresses = addresses
  }

  var state: SubchannelState { inner?.state ?? SubchannelState(.idle) }

  func connect() { inner?.connect() }

  func update(_ addresses: [EndpointAddress]) {
    let old = self.addresses
    self.addresses = addresses
    servers.addressesChanged(self, from: old)
    inner?.update(addresses)
  }

  func reportLoad(every interval: Duration?) { inner?.reportLoad(every: interval) }

  func shutDown() {
    observer = nil
    if !servers.keeps(self) { end() }
  }

  /// Nobody has it any more.
  func end() { inner?.shutDown() }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    observer?.subchannelChanged(self, to: state)
  }

  func subchannel(_ subchannel: any Subchannel, reported load: LoadReport) {
    observer?.subchannel(self, reported: load)
  }
}
