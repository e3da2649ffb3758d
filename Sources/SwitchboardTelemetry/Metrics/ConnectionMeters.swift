import SwitchboardCall

/// The metrics of connections. Those of clients have the names of gRFC A94.
final class ConnectionMeters: MetricSource {
  private struct Key: Hashable, Sendable {
    let target: String
    let isServer: Bool
  }

  private struct Counts: Sendable {
    var opened = 0
    var closed = 0
    var failed = 0
  }

  private struct State: Sendable {
    var connections: [Key: Counts] = [:]
    /// The abuses, by their kind.
    var abuses: [PeerAbuse: Int] = [:]
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int) {
    self.limit = limit
  }

  func opened(_ connection: ObservedConnection) { count(connection) { $0.opened += 1 } }
  func closed(_ connection: ObservedConnection) { count(connection) { $0.closed += 1 } }
  func failed(_ connection: ObservedConnection) { count(connection) { $0.failed += 1 } }
  func abused(_ abuse: PeerAbuse) { state.withLock { $0.abuses[abuse, default: 0] += 1 } }

  private func count(_ connection: ObservedConnection, _ change: (inout Counts) -> Void) {
    // Addresses of clients must not become labels, because their number has no bound.
    var key = Key(
      target: connection.isServer ? "" : connection.peer.canonicalTarget,
      isServer: connection.isServer
    )
    state.withLock { state in
      if state.connections[key] == nil, state.connections.count >= limit {
        key = Key(target: CallMeters.other, isServer: key.isServer)
      }
      change(&state.connections[key, default: Counts()])
    }
  }

  func collect() -> [MetricFamily] {
    let state = state.withLock { $0 }
    let ordered = state.connections.sorted { $0.key.target < $1.key.target }
    func family(
      _ name: String,
      _ kind: MetricFamily.Kind,
      _ unit: String,
      _ text: String,
      isServer: Bool,
      _ value: (Counts) -> Int
    ) -> MetricFamily {
      let points = ordered.filter { $0.key.isServer == isServer }.map { key, counts in
        let attributes = isServer ? [] : [Attribute("grpc.target", .string(key.target))]
        return MetricPoint(attributes: attributes, value: .int(value(counts)))
      }
      return MetricFamily(descriptor: MetricDescriptor(name, kind, unit: unit, text), points: points)
    }
    let abuses = state.abuses.sorted { $0.key.rawValue < $1.key.rawValue }.map { abuse, count in
      MetricPoint(attributes: [Attribute("switchboard.abuse", .string(abuse.rawValue))], value: .int(count))
    }
    return [
      family(
        "grpc.subchannel.connection_attempts_succeeded",
        .counter,
        "{attempt}",
        "connections that were made",
        isServer: false
      ) { $0.opened },
      family(
        "grpc.subchannel.connection_attempts_failed",
        .counter,
        "{attempt}",
        "connections that could not be made",
        isServer: false
      ) { $0.failed },
      family(
        "grpc.subchannel.disconnections",
        .counter,
        "{disconnection}",
        "connections that ended",
        isServer: false
      ) { $0.closed },
      family(
        "grpc.subchannel.open_connections",
        .upDownCounter,
        "{connection}",
        "connections that are open",
        isServer: false
      ) { $0.opened - $0.closed },
      family(
        "switchboard.server.connections",
        .upDownCounter,
        "{connection}",
        "connections of clients that are open",
        isServer: true
      ) { $0.opened - $0.closed },
      family(
        "switchboard.server.connections_failed",
        .counter,
        "{connection}",
        "connections of clients that never became usable",
        isServer: true
      ) { $0.failed },
      MetricFamily(
        descriptor: MetricDescriptor(
          "switchboard.peer_abuses",
          .counter,
          unit: "{abuse}",
          "peers that exceeded a limit that well-behaved peers respect"
        ),
        points: abuses
      ),
    ].filter { !$0.points.isEmpty }
  }
}

extension String {
  /// The target of a channel in gRPC's metrics, with its scheme.
  var canonicalTarget: String {
    if isEmpty { return "inprocess" }
    let schemes = ["unix:", "unix-abstract:", "ipv4:", "ipv6:", "dns:", "passthrough:"]
    if contains("://") || schemes.contains(where: hasPrefix) { return self }
    return "dns:///\(self)"
  }
}
