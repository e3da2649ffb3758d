import SwitchboardCall

/// The meters of calls, one for each method on a server, and for each method and target on clients.
///
/// A server has as many methods as it has, but programs may make up methods and targets for their calls. There are at most
/// `limit` meters of each side; calls of further methods count under the method `other`, and of further targets under the
/// target `other`. A meter has a series for each status that its calls ended with, which servers choose: besides the first of
/// each meter there are `limit`, too, and calls beyond count under `other`.
///
/// If the program asks for optional labels, there is another meter for the attempts at servers with the same values of them.
final class CallMeters: MetricSource {
  struct Key: Hashable, Sendable {
    let method: String
    /// Empty on servers.
    let target: String
    /// The values of the optional labels. Empty for a meter that counts all but attempts that have such values.
    var labels: [String] = []
  }

  private struct State: Sendable {
    var meters: [Key: CallMeter] = [:]
    var targets: Set<String> = []
    var count = 0
  }

  private let isServer: Bool
  private let limit: Int
  /// The names of the optional labels of attempts that are wanted.
  let labels: [String]
  private let budget: SeriesBudget
  private let state = Locked(State())

  init(isServer: Bool, limit: Int, labels: [String] = []) {
    self.isServer = isServer
    self.limit = limit
    self.labels = labels
    budget = SeriesBudget(limit)
  }

  /// `labels` are the values of the optional labels; none if all are empty.
  func meter(method: String, target: String, labels: [String] = []) -> CallMeter {
    state.withLock { state in
      let key = Key(method: method, target: target, labels: labels)
      if let known = state.meters[key] { return known }
      if state.count < limit {
        state.count += 1
        return make(key, &state)
      }
      // Targets that are known keep their label; one more series for each of them at most.
      let isKnownTarget = target.isEmpty || state.targets.contains(target)
      let rest = Key(
        method: Self.other,
        target: isKnownTarget ? target : Self.other,
        labels: labels.map { _ in Self.other }
      )
      return state.meters[rest] ?? make(rest, &state)
    }
  }

  /// What counts the calls for which there are no more series.
  private var rest: Key { Key(method: Self.other, target: isServer ? "" : Self.other) }

  private func make(_ key: Key, _ state: inout State) -> CallMeter {
    var attributes = [Attribute("grpc.method", .string(key.method))]
    if !isServer { attributes.append(Attribute("grpc.target", .string(key.target))) }
    let rest = rest
    let bounds = CallMeter.Bounds(left: budget) { [weak self] in
      self?.state.withLock { state in state.meters[rest] ?? self?.make(rest, &state) }
    }
    let values = key.labels.isEmpty ? labels.map { _ in "" } : key.labels
    let meter = CallMeter(
      attributes,
      attemptAttributes: attributes + zip(labels, values).map { Attribute($0, .string($1)) },
      countsAttemptsOnly: !key.labels.isEmpty,
      key == rest ? nil : bounds
    )
    state.meters[key] = meter
    state.targets.insert(key.target)
    return meter
  }

  static let other = "other"

  // MARK: Reading

  func collect() -> [MetricFamily] {
    let meters = state.withLock { Array($0.meters.values) }
    var families = CallFamilies(isServer: isServer)
    for meter in meters.sorted(by: \.attemptAttributes) { families.add(meter) }
    return families.all
  }
}

/// What follows the methods of a connection or a channel, found by their descriptors without comparing their names. Used on
/// one loop.
struct MethodCache<Value> {
  private struct Entry {
    /// Kept, so that no other descriptor takes its address.
    let method: MethodDescriptor
    let value: Value
  }

  /// Each method has one place. Most connections call few methods: there are more places once two methods share one.
  private var entries: [Entry?] = []
  private static var mostEntries: Int { 64 }

  private func index(of method: MethodDescriptor) -> Int {
    let address = UInt(bitPattern: ObjectIdentifier(method))
    return Int(truncatingIfNeeded: (address >> 4 ^ address >> 10) & UInt(entries.count - 1))
  }

  @inline(__always)
  mutating func value(of method: MethodDescriptor, _ make: () -> Value) -> Value {
    if !entries.isEmpty, let entry = entries[index(of: method)], entry.method === method {
      return entry.value
    }
    let value = make()
    keep(Entry(method: method, value: value))
    return value
  }

  @inline(never)
  private mutating func keep(_ entry: Entry) {
    if entries.isEmpty { entries = [Entry?](repeating: nil, count: 4) }
    while entries[index(of: entry.method)] != nil, entries.count < Self.mostEntries {
      let known = entries
      entries = [Entry?](repeating: nil, count: known.count * 2)
      for case let known? in known { entries[index(of: known.method)] = known }
    }
    entries[index(of: entry.method)] = entry
  }
}
