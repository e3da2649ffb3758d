import SwitchboardCall

/// The meters of calls, one for each method on a server, and for each method and target on clients.
///
/// A server has as many methods as it has, but programs may make up methods and targets for their calls. There are at most
/// `limit` meters of each side; calls of further methods count under the method `other`, and of further targets under the
/// target `other`.
final class CallMeters: MetricSource {
  struct Key: Hashable, Sendable {
    let method: String
    /// Empty on servers.
    let target: String
  }

  private struct State: Sendable {
    var meters: [Key: CallMeter] = [:]
    var count = 0
  }

  private let isServer: Bool
  private let limit: Int
  private let state = Locked(State())

  init(isServer: Bool, limit: Int) {
    self.isServer = isServer
    self.limit = limit
  }

  func meter(method: String, target: String) -> CallMeter {
    state.withLock { state in
      let key = Key(method: method, target: target)
      if let known = state.meters[key] { return known }
      if state.count < limit {
        state.count += 1
        return make(key, &state)
      }
      // Targets that are known keep their label; one more series for each of them at most.
      let isKnownTarget = state.meters.keys.contains { $0.target == target }
      let rest = Key(method: Self.other, target: isKnownTarget || target.isEmpty ? target : Self.other)
      return state.meters[rest] ?? make(rest, &state)
    }
  }

  private func make(_ key: Key, _ state: inout State) -> CallMeter {
    var attributes = [Attribute("grpc.method", .string(key.method))]
    if !isServer { attributes.append(Attribute("grpc.target", .string(key.target))) }
    let meter = CallMeter(attributes)
    state.meters[key] = meter
    return meter
  }

  static let other = "other"

  // MARK: Reading

  func collect() -> [MetricFamily] {
    let meters = state.withLock { Array($0.meters.values) }
    var families = CallFamilies(isServer: isServer)
    for meter in meters.sorted(by: { "\($0.attributes)" < "\($1.attributes)" }) { families.add(meter) }
    return families.all
  }
}

/// The meters of a server's or a channel's methods, found by their descriptors without comparing their names.
struct MeterCache: Sendable {
  private struct Entry: Sendable {
    /// Kept, so that no other descriptor takes its address.
    let method: MethodDescriptor
    let meter: CallMeter
  }

  private var entries = [Entry?](repeating: nil, count: 64)

  @inline(__always)
  private static func index(of method: MethodDescriptor) -> Int {
    let address = UInt(bitPattern: ObjectIdentifier(method))
    return Int((address >> 4 ^ address >> 10) & 63)
  }

  @inline(__always)
  func meter(of method: MethodDescriptor) -> CallMeter? {
    guard let entry = entries[Self.index(of: method)], entry.method === method else { return nil }
    return entry.meter
  }

  mutating func keep(_ meter: CallMeter, for method: MethodDescriptor) {
    entries[Self.index(of: method)] = Entry(method: method, meter: meter)
  }
}
