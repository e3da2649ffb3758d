import SwitchboardCall

extension Channel {
  /// What the channel has done, and its connections. `nil` for one that has none of its own: within the process, or
  /// over the channels of a pool.
  public func snapshot() async -> ChannelSnapshot? {
    guard let transport = transport as? HTTP2ClientTransport else { return nil }
    return await transport.loop.find { transport.snapshot() }
  }

  /// One of the connections in full; `nil` once it has ended.
  public func connectionSnapshot(_ number: Int) async -> ConnectionSnapshot? {
    guard let transport = transport as? HTTP2ClientTransport else { return nil }
    return await transport.loop.find {
      transport.connections.first { $0.number == number }?.snapshot(number, isServer: false)
    }
  }

  /// Whether there is anything for `snapshot()` to tell.
  package var hasSnapshot: Bool { transport is HTTP2ClientTransport }
}

extension HTTP2ClientTransport {
  /// On the loop.
  fileprivate func snapshot() -> ChannelSnapshot {
    var counts = CallCounts()
    counts.add(calls, by: LoopClock(loop))
    return ChannelSnapshot(
      target: host,
      state: state,
      calls: counts,
      maxConnections: options.maxConnections,
      trace: trace,
      connections: connections.map { $0.reference($0.number) }
    )
  }
}
