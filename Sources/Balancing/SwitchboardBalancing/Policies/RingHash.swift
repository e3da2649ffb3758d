import SwitchboardCall

/// Calls with the same value of a metadata field go to the same endpoint, as long as it can be reached
/// (`ring_hash_experimental`, gRFCs A42, A61 and A76).
struct RingHash: LoadBalancingPolicy {
  /// The ring sizes that a configuration may specify.
  private static let sizes = 1...8_388_608
  /// The largest ring that is used, whatever the configuration says. It costs little memory.
  private static let largestSize = 4096

  var name: String { "ring_hash_experimental" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> RingHashBalancer.Config {
    var config = RingHashBalancer.Config()
    let smallest = try reader.count("minRingSize", in: Self.sizes, default: config.minRingSize)
    let largest = try reader.count("maxRingSize", in: Self.sizes, default: config.maxRingSize)
    if smallest > largest { try reader.refuse("maxRingSize", "is below minRingSize") }
    if smallest > Self.largestSize {
      reader.note([.doubt("minRingSize", "is \(smallest): no ring is larger than \(Self.largestSize)")])
    }
    config.minRingSize = min(smallest, Self.largestSize)
    config.maxRingSize = min(largest, Self.largestSize)
    if let header = try reader.string("requestHashHeader"), !header.isEmpty {
      config.requestHashHeader = header.lowercased()
      guard RequestHash.isValid(header: config.requestHashHeader) else {
        try reader.refuse("requestHashHeader", "is not the name of a text header")
        return config
      }
      if RequestHash.isOfTransport(header: config.requestHashHeader) {
        let reason = "is no metadata of calls, so the hash of each call is random"
        reader.note([.doubt("requestHashHeader", reason)])
      }
    } else {
      let reason = "is missing, so the hash of each call is random: name the metadata that chooses the server"
      reader.hint([.doubt("requestHashHeader", reason)])
    }
    return config
  }

  func makeBalancer(_ host: any BalancerHost) -> RingHashBalancer { RingHashBalancer(host) }
}

/// The balancer of `ring_hash_experimental`.
final class RingHashBalancer: LoadBalancer, Picker {
  struct Config: Hashable, Sendable {
    var minRingSize = 1024
    var maxRingSize = 4096
    /// Empty: all calls have random hashes.
    var requestHashHeader = ""
  }

  private let host: any BalancerHost
  private var config = Config()
  private var requestHash = RequestHash(header: "")
  /// The ring. It is empty during an update, because it holds indexes of the endpoints from which it was made.
  private var ring = HashRing()
  /// The endpoints and weights from which the ring was made.
  private var ringEndpoints: [Endpoint] = []
  private var ringWeights: [UInt64] = []
  private var random: QuickRandom
  /// How many calls went to a server at random, because they lacked what is to be hashed; `nil` once one had it, or the log has said
  /// so.
  private var unhashed: Int? = 0
  /// After so many calls, of which some may not need a server of their own, the log says so.
  private static let callsBeforeDoubt = 100
  /// The endpoints that calls wait for, and the timer that connects them. It fires after the pick, because a subchannel
  /// may report a change immediately.
  private var wanted: [EndpointSubchannels.Member] = []
  private var connecting: (any ScheduledAction)?
  /// The position at which the search for an idle endpoint continues.
  private var searched = 0

  private let endpoints: EndpointSubchannels

  init(_ host: any BalancerHost) {
    self.host = host
    random = QuickRandom(seed: host.random())
    endpoints = EndpointSubchannels(host)
    endpoints.events.changed = { [weak self] in self?.publish() }
    endpoints.events.connects = false
  }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    let isOther = self.config != config
    self.config = config
    requestHash = RequestHash(header: config.requestHashHeader)
    if isOther { unhashed = 0 }
    // Calls that wait for an endpoint that is removed look for another before this returns. They wait for the
    // next ring.
    let old = ring
    ring = HashRing()
    self.endpoints.update(endpoints)
    guard !self.endpoints.members.isEmpty else {
      (ringEndpoints, ringWeights) = ([], [])
      resolverFailed(.noEndpoints)
      throw .noEndpoints
    }
    updateRing(old, always: isOther)
    publish()
  }

  /// Makes a new ring if it would differ from the old one.
  private func updateRing(_ old: HashRing, always isOther: Bool) {
    let members = endpoints.members
    let endpoints = members.map(\.endpoint)
    let weights = members.map(\.weight)
    guard isOther || ringEndpoints != endpoints || ringWeights != weights else {
      ring = old
      return
    }
    (ringEndpoints, ringWeights) = (endpoints, weights)
    ring = HashRing(
      members.map { member in HashRing.Item(key: { member.endpoint.hashKey }, weight: member.weight) },
      smallest: config.minRingSize,
      largest: config.maxRingSize
    )
  }

  func resolverFailed(_ status: GRPCStatus) {
    guard endpoints.members.isEmpty else { return }
    host.update(.transientFailure, ConstantPicker(.fail(status)))
  }

  func leaveIdle() {
    if state == .idle, let member = nextIdle() { connect(member) }
  }

  func shutDown() {
    connecting?.cancel()
    connecting = nil
    wanted = []
    ring = HashRing()
    endpoints.shutDown()
  }

  /// Two failed endpoints count as a failure of all. The others may not have been tried yet, and a parent policy must
  /// not wait for them.
  private var state: ConnectivityState {
    let counts = endpoints.counts
    if counts.ready > 0 { return .ready }
    if counts.transientFailure >= 2 { return .transientFailure }
    if counts.connecting > 0 || counts.transientFailure == 1 && endpoints.members.count > 1 {
      return .connecting
    }
    return counts.idle > 0 ? .idle : .transientFailure
  }

  private func publish() {
    // The timer may fire after the last endpoint was removed.
    guard !endpoints.members.isEmpty else { return resolverFailed(.noEndpoints) }
    let state = state
    host.update(state, self)
    // While this policy fails, its parent may send no calls, so it must recover without them.
    guard state == .transientFailure || state == .connecting, endpoints.counts.connecting == 0 else { return }
    if let member = nextIdle() { connect(member) }
  }

  private func nextIdle() -> EndpointSubchannels.Member? {
    guard endpoints.counts.idle > 0 else { return nil }
    let members = endpoints.members
    for _ in members {
      searched = searched + 1 < members.count ? searched + 1 : 0
      if members[searched].state == .idle { return members[searched] }
    }
    return nil
  }

  private func connect(_ member: EndpointSubchannels.Member) {
    guard !member.isWanted else { return }
    member.isWanted = true
    wanted.append(member)
    guard connecting == nil else { return }
    connecting = host.time.schedule(after: .zero) { [weak self] in
      guard let self else { return }
      connecting = nil
      let members = wanted
      wanted = []
      for member in members { member.isWanted = false }
      let idle = members.filter { $0.state == .idle }
      for member in idle { member.subchannel.connect() }
      // Calls may be waiting for an endpoint that has failed since.
      if idle.isEmpty { publish() }
    }
  }

  func pick(_ call: any CallToPick) -> Pick {
    guard !ring.items.isEmpty else { return .wait }
    let hash = requestHash.hash(of: call.metadata) ?? call.route?.hash?(call.metadata)
    if let hash {
      unhashed = nil
      return pick(from: ring.position(of: hash))
    }
    let pick = pickAny(from: ring.position(of: random.next()))
    if let count = unhashed, case .subchannel = pick { placedAtRandom(call, after: count) }
    return pick
  }

  /// Says once that no call has what is to be hashed. Where nothing is to be, that is what the config asks for.
  private func placedAtRandom(_ call: any CallToPick, after count: Int) {
    guard requestHash.isUsed || call.route?.hash != nil else { return }
    unhashed = count + 1
    guard count + 1 == Self.callsBeforeDoubt else { return }
    unhashed = nil
    let lacks =
      requestHash.isUsed
      ? "the metadata \(config.requestHashHeader), which requestHashHeader names"
      : "what the hash policies of their routes look at"
    host.warn("ring_hash: each call goes to a server at random: none of the first \(count + 1) had \(lacks)")
  }

  /// Chooses the first endpoint that has not failed.
  private func pick(from start: Int) -> Pick {
    guard endpoints.counts.transientFailure < endpoints.members.count else {
      return .fail(endpoints.lastFailure)
    }
    var position = start
    repeat {
      let member = endpoints.members[ring.items[position]]
      switch member.state {
      case .ready: return .subchannel(member.subchannel)
      case .idle:
        connect(member)
        return .wait
      case .connecting: return .wait
      case .transientFailure, .shutdown: break
      }
      position = position + 1 < ring.items.count ? position + 1 : 0
    } while position != start
    return .fail(endpoints.lastFailure)
  }

  /// Chooses the first ready endpoint. Connects the first idle one before it, unless another is already connecting.
  private func pickAny(from start: Int) -> Pick {
    let counts = endpoints.counts
    var isConnecting = counts.connecting > 0 || connecting != nil
    guard counts.transientFailure < endpoints.members.count else { return .fail(endpoints.lastFailure) }
    var position = start
    repeat {
      let member = endpoints.members[ring.items[position]]
      if member.state == .ready { return .subchannel(member.subchannel) }
      if !isConnecting, member.state == .idle {
        connect(member)
        isConnecting = true
      }
      position = position + 1 < ring.items.count ? position + 1 : 0
    } while position != start
    return isConnecting ? .wait : .fail(endpoints.lastFailure)
  }
}
