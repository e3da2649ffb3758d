/// The calls that viewers were shown lately. Whoever opens one finds it, although newer ones have taken its place.
struct ShownCalls: Sendable {
  private var calls: [(call: KeptCall, time: ContinuousClock.Instant)] = []

  /// The most that are kept: several pages of lists, in each of which all calls are new.
  static let most = 600
  static let age = Duration.seconds(60)

  /// These are shown now.
  mutating func add(_ shown: [KeptCall], at now: ContinuousClock.Instant) {
    let known = Set(shown.map(ObjectIdentifier.init))
    calls.removeAll { known.contains(ObjectIdentifier($0.call)) }
    calls += shown.map { ($0, now) }
    calls.removeFirst(max(0, calls.count - Self.most))
    forget(at: now)
  }

  /// Forgets those that were shown a while ago.
  mutating func forget(at now: ContinuousClock.Instant) {
    calls.removeAll { $0.time + Self.age < now }
  }

  /// The call with this ID.
  func call(_ id: [UInt8], ofServers isServer: Bool) -> KeptCall? {
    calls.lazy.map(\.call).first { $0.call.called.isServer == isServer && $0.id.utf8.elementsEqual(id) }
  }
}
