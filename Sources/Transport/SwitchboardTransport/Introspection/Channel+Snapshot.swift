import SwitchboardCall

extension Channel {
  /// A snapshot of the channel. `nil` for a channel without connections of its own: one within the process, or one that
  /// uses a pool.
  package func snapshot() async -> ChannelSnapshot? {
    guard let transport = transport as? HTTP2ClientTransport else { return nil }
    return await transport.loop.find { transport.snapshot() }
  }

  /// A snapshot of one connection; `nil` once it has ended.
  package func connectionSnapshot(_ number: Int) async -> ConnectionSnapshot? {
    guard let transport = transport as? HTTP2ClientTransport else { return nil }
    return await transport.loop.find {
      transport.connections.first { $0.number == number }?.snapshot(number, isServer: false)
    }
  }

  /// Whether `snapshot()` returns one.
  package var hasSnapshot: Bool { transport is HTTP2ClientTransport }
}

extension HTTP2ClientTransport {
  /// Call on the loop.
  fileprivate func snapshot() -> ChannelSnapshot {
    var counts = CallCounts()
    counts.add(calls, by: LoopClock(loop))
    return ChannelSnapshot(
      target: host,
      state: state,
      calls: counts,
      maxConnections: options.maxConnections,
      policy: balancer.policyName,
      trace: trace,
      subchannels: subchannels.values.sorted { $0.number < $1.number }.map { $0.snapshot() }
    )
  }
}

extension HTTP2Subchannel {
  /// Call on the loop.
  fileprivate func snapshot() -> SubchannelSnapshot {
    var counts = CallCounts()
    counts.add(calls, by: LoopClock(loop))
    return SubchannelSnapshot(
      number: number,
      target: shown,
      state: state.connectivity,
      failure: state.failure,
      calls: counts,
      connections: connections.map { $0.reference($0.number) }
    )
  }
}
