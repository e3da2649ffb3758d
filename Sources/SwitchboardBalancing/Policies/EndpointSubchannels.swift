import SwitchboardCall

/// The subchannels of a policy that has one for each endpoint. `Note` is what the policy knows about each.
///
/// A subchannel that failed counts as failed until it is ready again, although it connects in between: calls would
/// otherwise wait for a server that is down.
package final class EndpointSubchannels<Note>: SubchannelObserver {
  /// An endpoint and its subchannel.
  package final class Member {
    package fileprivate(set) var endpoint: Endpoint
    package let subchannel: any Subchannel
    package fileprivate(set) var state = ConnectivityState.idle
    /// The sum of the weights with which the endpoint occurs.
    package fileprivate(set) var weight: UInt64 = 0
    /// The latest update that had it.
    fileprivate var round = 0
    /// The position among those that are ready; -1 for others.
    fileprivate var position = -1
    /// What the policy knows about it.
    package var note: Note

    fileprivate init(_ endpoint: Endpoint, _ subchannel: any Subchannel, _ note: Note) {
      self.endpoint = endpoint
      self.subchannel = subchannel
      self.note = note
    }
  }

  /// What the policy does when something changes.
  package struct Events {
    /// The set of those that are ready has changed, or the combined state. Not called by `update`.
    package var changed: () -> Void
    /// The state of a member has changed, from another. Called before `changed`.
    package var moved: (Member, ConnectivityState) -> Void = { _, _ in }
    /// A server has reported its load.
    package var reported: (Member, LoadReport) -> Void = { _, _ in }
    /// Whether all subchannels connect by themselves; otherwise the policy says which do at first, and those that have
    /// failed try again.
    package var connects = true

    package init(changed: @escaping () -> Void = {}) { self.changed = changed }
  }

  private unowned let host: any BalancerHost
  /// Set once, before the first update: the policy's closures refer to the policy, which must be complete.
  package var events: Events
  private let makeNote: () -> Note
  private var byAddresses: [AddressSet: Member] = [:]
  private var bySubchannel: [ObjectIdentifier: Member] = [:]
  /// The number of the latest update.
  private var round = 0
  private var isUpdating = false
  private(set) var counts = StateCounts()
  /// Why the latest endpoint failed.
  package private(set) var lastFailure = GRPCStatus.noServer
  /// In the order of the resolver, without duplicates.
  package private(set) var members: [Member] = []
  /// Those that are ready, in no particular order. Changes in place, so that a change costs no more than itself.
  package private(set) var ready: [Member] = []

  package init(_ host: any BalancerHost, note: @escaping () -> Note, _ events: Events = Events()) {
    self.host = host
    self.events = events
    makeNote = note
  }

  /// The combined state: as good as the best endpoint's.
  package var state: ConnectivityState { counts.combined }

  /// Keeps the subchannels of endpoints that are known already.
  package func update(_ endpoints: [Endpoint], _ options: SubchannelOptions = SubchannelOptions()) {
    isUpdating = true
    defer { isUpdating = false }
    round += 1
    let old = members
    var new: [Member] = []
    members.removeAll(keepingCapacity: true)
    for endpoint in endpoints {
      guard let key = AddressSet(endpoint.addresses) else { continue }
      let weight = UInt64(max(1, endpoint.attributes[EndpointWeight.self] ?? 1))
      let member: Member
      if let known = byAddresses[key] {
        member = known
        guard known.round != round else {
          known.weight += weight
          continue
        }
        if known.endpoint.addresses != endpoint.addresses { known.subchannel.update(endpoint.addresses) }
        known.endpoint = endpoint
      } else {
        let subchannel = host.makeSubchannel(endpoint.addresses, options, self)
        member = Member(endpoint, subchannel, makeNote())
        byAddresses[key] = member
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
      if let key = AddressSet(member.endpoint.addresses) { byAddresses[key] = nil }
    }
    drop(gone)
    if events.connects { for member in new { member.subchannel.connect() } }
  }

  /// First of all, none of them is ready any longer: calls that wait for one are placed again, and would wait for each
  /// in turn.
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
    // Last, because the subchannel may say at once that it connects.
    if state.connectivity == .idle, events.connects || new == .transientFailure { subchannel.connect() }
  }

  package func subchannel(_ subchannel: any Subchannel, reported load: LoadReport) {
    if let member = bySubchannel[ObjectIdentifier(subchannel)] { events.reported(member, load) }
  }
}

extension EndpointSubchannels<Void> {
  /// For policies that know nothing about single endpoints.
  package convenience init(_ host: any BalancerHost, _ events: Events = Events()) {
    self.init(host, note: {}, events)
  }
}

extension BalancerHost {
  /// Sets the state and the picker of a policy that connects all endpoints and has `picker` for those that are ready.
  func update<Note>(_ endpoints: EndpointSubchannels<Note>, whenReady picker: any Picker) {
    switch endpoints.state {
    case .ready: update(.ready, picker)
    case .connecting, .idle: update(.connecting, ConstantPicker(.wait))
    case .transientFailure, .shutdown:
      update(.transientFailure, ConstantPicker(.fail(endpoints.lastFailure)))
    }
  }
}
