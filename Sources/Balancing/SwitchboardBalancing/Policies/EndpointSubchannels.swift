import SwitchboardCall

/// The subchannels of a policy that makes one for each endpoint.
///
/// A subchannel that failed counts as failed until it is ready, even while it reconnects. Otherwise calls would wait
/// for a server that is down.
package final class EndpointSubchannels: SubchannelObserver {
  /// An endpoint and its subchannel.
  package final class Member {
    package fileprivate(set) var endpoint: Endpoint
    package let subchannel: any Subchannel
    package fileprivate(set) var state = ConnectivityState.idle
    /// The endpoint's weight; the sum if the endpoint occurs several times.
    package fileprivate(set) var weight: UInt64 = 0
    fileprivate let metricLabels: [String: String]
    /// The number of the latest update that contained the endpoint.
    fileprivate var round = 0
    /// The index in `ready`; -1 if the endpoint is not ready.
    fileprivate var position = -1

    // What single policies keep about an endpoint. It is here, and not in a type that each of them gives, because all of
    // this would be compiled for each of the types.

    /// The calls in progress, which `least_request` counts.
    var calls = 0
    /// What `weighted_round_robin` knows about the load.
    var load: EndpointLoad?
    /// Whether a call of `ring_hash` waits for the endpoint to connect.
    var isWanted = false

    fileprivate init(_ endpoint: Endpoint, _ subchannel: any Subchannel, _ metricLabels: [String: String]) {
      self.endpoint = endpoint
      self.metricLabels = metricLabels
      self.subchannel = subchannel
    }
  }

  /// The callbacks of the policy.
  package struct Events {
    /// The set of ready members or the combined state has changed. Not called during `update`.
    package var changed: () -> Void
    /// A member was made.
    package var added: (Member) -> Void = { _ in }
    /// The state of a member has changed from the given one. Called before `changed`.
    package var moved: (Member, ConnectivityState) -> Void = { _, _ in }
    /// A server has reported its load.
    package var reported: (Member, LoadReport) -> Void = { _, _ in }
    /// Whether all subchannels connect on their own. Otherwise the policy decides which ones connect first; only those
    /// that failed reconnect on their own.
    package var connects = true

    package init(changed: @escaping () -> Void = {}) { self.changed = changed }
  }

  private let host: any BalancerHost
  /// Set once, before the first update but after the policy's initialization, because the closures refer to the policy.
  package var events: Events
  private var byAddresses: [AddressSet: Member] = [:]
  private var bySubchannel: [ObjectIdentifier: Member] = [:]
  /// The number of the latest update.
  private var round = 0
  private var isUpdating = false
  private(set) var counts = StateCounts()
  /// The latest failure of any endpoint.
  package private(set) var lastFailure = GRPCStatus.noServer
  /// All members, in the resolver's order and without duplicates.
  package private(set) var members: [Member] = []
  /// The ready members, in no particular order. A change of one member takes constant time.
  package private(set) var ready: [Member] = []

  package init(_ host: any BalancerHost, _ events: Events = Events()) {
    self.host = host
    self.events = events
  }

  /// The combined state: that of the best endpoint.
  package var state: ConnectivityState { counts.combined }

  /// What the attributes of an endpoint say.
  private struct Traits {
    let attributes: EndpointAttributes
    let weight: UInt64
    let labels: [String: String]

    init(_ attributes: EndpointAttributes) {
      self.attributes = attributes
      weight = UInt64(max(1, attributes[EndpointWeight.self] ?? 1))
      labels = attributes.metricLabels
    }
  }

  /// Whether attributes are equal, for endpoints of which most share theirs.
  private struct AttributesComparison {
    // The last ones.
    private var old = EndpointAttributes()
    private var new = EndpointAttributes()
    private var areEqual = true

    mutating func areEqual(_ old: EndpointAttributes, _ new: EndpointAttributes) -> Bool {
      if !self.old.isCopy(of: old) || !self.new.isCopy(of: new) {
        (self.old, self.new, areEqual) = (old, new, old == new)
      }
      return areEqual
    }
  }

  /// Replaces the endpoints. Those that are already known keep their subchannels, unless their calls have other labels now.
  package func update(_ endpoints: [Endpoint], _ options: SubchannelOptions = SubchannelOptions()) {
    isUpdating = true
    defer { isUpdating = false }
    round += 1
    let old = members
    var new: [Member] = []
    members = []
    members.reserveCapacity(endpoints.count)
    var traits = Traits(EndpointAttributes())
    var comparison = AttributesComparison()
    // Most endpoints are where they were in the update before. One that has another member by now is not looked for there.
    var position = 0
    var hasReplaced = false
    for endpoint in endpoints {
      if !traits.attributes.isCopy(of: endpoint.attributes) { traits = Traits(endpoint.attributes) }
      if !hasReplaced, position < old.count {
        let member = old[position]
        position += 1
        if member.round != round, member.endpoint.addresses == endpoint.addresses,
          !endpoint.addresses.isEmpty,
          comparison.areEqual(member.endpoint.attributes, endpoint.attributes)
        {
          member.endpoint = endpoint
          member.weight = traits.weight
          member.round = round
          members.append(member)
          continue
        }
      }
      guard let key = AddressSet(endpoint.addresses) else { continue }
      let (weight, labels) = (traits.weight, traits.labels)
      let member: Member
      if let known = byAddresses[key], known.metricLabels == labels || known.round == round {
        member = known
        guard known.round != round else {
          known.weight += weight
          continue
        }
        if known.endpoint.addresses != endpoint.addresses { known.subchannel.update(endpoint.addresses) }
        known.endpoint = endpoint
      } else {
        var options = options
        options.metricLabels = labels
        let subchannel = host.makeSubchannel(endpoint.addresses, options, self)
        member = Member(endpoint, subchannel, labels)
        events.added(member)
        hasReplaced = byAddresses.updateValue(member, forKey: key) != nil || hasReplaced
        bySubchannel[ObjectIdentifier(subchannel)] = member
        counts.move(from: nil, to: .idle)
        new.append(member)
      }
      member.weight = weight
      member.round = round
      members.append(member)
    }
    let gone = old.filter { $0.round != round }
    for member in gone {
      guard let key = AddressSet(member.endpoint.addresses) else { continue }
      if byAddresses[key] === member { byAddresses[key] = nil }
    }
    drop(gone)
    if events.connects { for member in new { member.subchannel.connect() } }
  }

  /// Marks all members as shut down before shutting down the first subchannel. Another server is picked for
  /// calls that wait for one, which would otherwise wait for the next removed one.
  private func drop(_ gone: [Member]) {
    for member in gone {
      set(member, .shutdown)
      bySubchannel[ObjectIdentifier(member.subchannel)] = nil
    }
    for member in gone { member.subchannel.shutDown() }
  }

  package func shutDown() {
    let gone = members
    members = []
    byAddresses = [:]
    drop(gone)
  }

  private func set(_ member: Member, _ state: ConnectivityState) {
    let old = member.state
    guard state != old else { return }
    counts.move(from: old, to: state)
    member.state = state
    if state == .ready {
      member.position = ready.count
      ready.append(member)
    } else if old == .ready {
      let last = ready.removeLast()
      if last !== member {
        ready[member.position] = last
        last.position = member.position
      }
      member.position = -1
    }
    events.moved(member, old)
  }

  package func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    guard let member = bySubchannel[ObjectIdentifier(subchannel)] else { return }
    let before = (member: member.state, all: self.state)
    var new = state.connectivity
    if before.member == .transientFailure, new != .ready { new = .transientFailure }
    if let failure = state.failure { lastFailure = failure }
    set(member, new)
    let hasFailed = state.connectivity == .transientFailure
    if hasFailed || before.member == .ready && new != .ready { host.resolveAgain() }
    let changes = before.member != new || before.all != self.state || hasFailed
    if changes, !isUpdating { events.changed() }
    // Must come last, because the subchannel may report `connecting` immediately.
    if state.connectivity == .idle, events.connects || new == .transientFailure { subchannel.connect() }
  }

  package func subchannel(_ subchannel: any Subchannel, reported load: LoadReport) {
    if let member = bySubchannel[ObjectIdentifier(subchannel)] { events.reported(member, load) }
  }
}

extension BalancerHost {
  /// Sets the state and the picker of a policy that connects to all endpoints. `picker` applies while any is ready.
  func update(_ endpoints: EndpointSubchannels, whenReady picker: any Picker) {
    switch endpoints.state {
    case .ready: update(.ready, picker)
    case .connecting, .idle: update(.connecting, ConstantPicker(.wait))
    case .transientFailure, .shutdown:
      update(.transientFailure, ConstantPicker(.fail(endpoints.lastFailure)))
    }
  }
}
