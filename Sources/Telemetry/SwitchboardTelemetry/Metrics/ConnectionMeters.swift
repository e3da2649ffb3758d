import SwitchboardBalancing
import SwitchboardCall

/// The metrics of connections, and of the loops that serve them. Those of clients have the names of gRFC A94.
final class ConnectionMeters: MetricSource {
  private struct Key: Hashable, Sendable {
    var target: String
    let isServer: Bool
    /// The values of the labels of balancing.
    var labels: [String]
    /// Only if that is a label.
    let isSecure: Bool
  }

  private struct Counts: Sendable {
    var opened = 0
    var closed = 0
    var failed = 0
    /// The closed ones by their reasons, if these are labels. Transports have few.
    var reasons: [String: Int] = [:]
  }

  private struct State: Sendable {
    var connections: [Key: Counts] = [:]
    /// The abuses, by their kind.
    var abuses: [PeerAbuse: Int] = [:]
    /// How often loops were blocked, by the method that did it. They are as many as the servers' methods.
    var blocks: [String: Int] = [:]
  }

  private let limit: Int
  /// The labels of balancing that the program has asked for.
  private let names: [String]
  private let showsSecurity: Bool
  private let showsReasons: Bool
  private let state = Locked(State())

  init(limit: Int, labels: Set<String> = []) {
    self.limit = limit
    names = CallFamilies.optionalLabels.filter(labels.contains)
    showsSecurity = labels.contains(MetricLabel.securityLevel)
    showsReasons = labels.contains(MetricLabel.disconnectError)
  }

  func opened(_ connection: ObservedConnection) { count(connection) { $0.opened += 1 } }
  func failed(_ connection: ObservedConnection) { count(connection) { $0.failed += 1 } }
  func abused(_ abuse: PeerAbuse) { state.withLock { $0.abuses[abuse, default: 0] += 1 } }
  func loopBlocked(by method: String) { state.withLock { $0.blocks[method, default: 0] += 1 } }

  /// How often peers broke each rule.
  var abuses: [PeerAbuse: Int] { state.withLock { $0.abuses } }

  func closed(_ connection: ObservedConnection) {
    let reason = showsReasons ? connection.labels[MetricLabel.disconnectError] ?? "unknown" : nil
    count(connection) { counts in
      counts.closed += 1
      if let reason { counts.reasons[reason, default: 0] += 1 }
    }
  }

  private func count(_ connection: ObservedConnection, _ change: (inout Counts) -> Void) {
    // Addresses of clients must not become labels, because their number has no bound.
    var key = Key(
      target: connection.isServer ? "" : (connection.labels[MetricLabel.target] ?? connection.peer).asLabel,
      isServer: connection.isServer,
      labels: connection.isServer ? [] : names.map { (connection.labels[$0] ?? "").asLabel },
      isSecure: showsSecurity && connection.isSecure
    )
    state.withLock { state in
      if state.connections[key] == nil, state.connections.count >= limit {
        key.target = CallMeters.other
        key.labels = key.labels.map { _ in "" }
      }
      change(&state.connections[key, default: Counts()])
    }
  }

  /// The labels that all metrics of a connection have.
  private func attributes(_ key: Key) -> [Attribute] {
    guard !key.isServer else { return [] }
    return [Attribute(MetricLabel.target, .string(key.target))]
      + zip(names, key.labels).map { Attribute($0, .string($1)) }
  }

  private func security(_ key: Key) -> [Attribute] {
    guard showsSecurity else { return [] }
    return [Attribute(MetricLabel.securityLevel, .string(key.isSecure ? "privacy_and_integrity" : "none"))]
  }

  func collect() -> [MetricFamily] {
    let state = state.withLock { $0 }
    let ordered = state.connections.sorted { one, other in
      let (key, next) = (one.key, other.key)
      if key.target != next.target { return key.target < next.target }
      if key.labels != next.labels { return key.labels.lexicographicallyPrecedes(next.labels) }
      return !key.isSecure && next.isSecure
    }
    func family(
      _ name: String,
      _ kind: MetricFamily.Kind,
      _ unit: String,
      _ text: String,
      isServer: Bool,
      _ values: (Key, Counts) -> [(labels: [Attribute], value: Int)]
    ) -> MetricFamily {
      var points: [MetricPoint] = []
      for (key, counts) in ordered where key.isServer == isServer {
        for (labels, value) in values(key, counts) {
          points.add(value, attributes(key) + labels)
        }
      }
      return MetricFamily(descriptor: MetricDescriptor(name, kind, unit: unit, text), points: points)
    }
    let abuses = state.abuses.sorted { $0.key.rawValue < $1.key.rawValue }.map { abuse, count in
      MetricPoint(attributes: [Attribute("switchboard.abuse", .string(abuse.rawValue))], value: .int(count))
    }
    let blocks = state.blocks.sorted { $0.key < $1.key }.map { method, count in
      MetricPoint(attributes: [Attribute("grpc.method", .string(method))], value: .int(count))
    }
    return [
      family(
        "grpc.subchannel.connection_attempts_succeeded",
        .counter,
        "{attempt}",
        "connections that were made",
        isServer: false
      ) { [([], $1.opened)] },
      family(
        "grpc.subchannel.connection_attempts_failed",
        .counter,
        "{attempt}",
        "connections that could not be made",
        isServer: false
      ) { [([], $1.failed)] },
      family(
        "grpc.subchannel.disconnections",
        .counter,
        "{disconnection}",
        "connections that ended",
        isServer: false
      ) { _, counts in
        guard showsReasons else { return [([], counts.closed)] }
        return counts.reasons.sorted { $0.key < $1.key }.map {
          ([Attribute(MetricLabel.disconnectError, .string($0.key))], $0.value)
        }
      },
      family(
        "grpc.subchannel.open_connections",
        .upDownCounter,
        "{connection}",
        "connections that are open",
        isServer: false
      ) { (key, counts) in [(security(key), counts.opened - counts.closed)] },
      family(
        "switchboard.server.connections",
        .upDownCounter,
        "{connection}",
        "connections of clients that are open",
        isServer: true
      ) { [([], $1.opened - $1.closed)] },
      family(
        "switchboard.server.connections_failed",
        .counter,
        "{connection}",
        "connections of clients that never became usable",
        isServer: true
      ) { [([], $1.failed)] },
      MetricFamily(
        descriptor: MetricDescriptor(
          "switchboard.peer_abuses",
          .counter,
          unit: "{abuse}",
          "peers that exceeded a limit that well-behaved peers respect"
        ),
        points: abuses
      ),
      MetricFamily(
        descriptor: MetricDescriptor(
          "switchboard.server.blocked_loops",
          .counter,
          unit: "{block}",
          "times that a handler blocked an event loop for too long"
        ),
        points: blocks
      ),
    ].filter { !$0.points.isEmpty }
  }
}

extension [MetricPoint] {
  /// Adds to the point with these attributes, or another point.
  fileprivate mutating func add(_ value: Int, _ attributes: [Attribute]) {
    // Those of one target and its labels are neighbors.
    guard let index = indices.suffix(64).last(where: { self[$0].attributes == attributes }),
      case .int(let known) = self[index].value
    else { return append(MetricPoint(attributes: attributes, value: .int(value))) }
    self[index] = MetricPoint(attributes: attributes, value: .int(known + value))
  }
}
