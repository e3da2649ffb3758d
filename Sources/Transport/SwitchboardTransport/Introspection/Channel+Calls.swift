import SwitchboardCall
import SwitchboardNetwork

extension Channel {
  /// The calls in progress that the channel's observer follows, and that `isWanted`: at most `limit`. None of a channel
  /// without connections of its own.
  package func callsInProgress(
    limit: Int,
    _ isWanted: @escaping @Sendable (MethodDescriptor, _ start: UInt64) -> Bool
  ) async -> CallsInProgress {
    guard let transport = transport as? HTTP2ClientTransport else { return CallsInProgress() }
    return await transport.loop.find { transport.callsInProgress(limit, isWanted) } ?? CallsInProgress()
  }
}

extension HTTP2ClientTransport {
  /// Call on the loop.
  fileprivate func callsInProgress(_ limit: Int, _ isWanted: (MethodDescriptor, _ start: UInt64) -> Bool)
    -> CallsInProgress
  {
    var calls = OldestCalls<ClientCallStream>(limit: limit)
    func add(_ call: ClientCallStream) {
      let start = call.request.stamp.start
      guard call.isCounted, start > 0, call.stage != nil else { return }
      if isWanted(call.request.method, start) { calls.add(call, start: start) }
    }
    func add(_ entry: StreamEntry) { if let call = entry as? ClientCallStream { add(call) } }
    for call in waiting.all { add(call) }
    for subchannel in subchannels.values {
      for call in subchannel.waiting.all { add(call) }
      for connection in subchannel.connections {
        connection.parts.streams.forEach(add)
      }
    }
    let count = calls.count
    return CallsInProgress(
      oldest: calls.take().compactMap(\.callSnapshot),
      count: count,
      target: destination.target.canonical
    )
  }
}

extension ClientCallStream {
  fileprivate var stage: CallSnapshot.Stage? {
    switch phase {
    case .waiting: server.subchannel == nil ? .waitsForServer : .waitsForConnection
    case .open: response.head.isWhole ? .receivesResponse : .awaitsResponse
    case .idle, .started, .failing, .closed: nil
    }
  }

  fileprivate var callSnapshot: CallSnapshot? {
    guard let stage else { return nil }
    return CallSnapshot(
      method: request.method,
      peer: server.subchannel?.shown ?? "",
      stage: stage,
      stamp: request.stamp,
      tracer: trace.tracer,
      headers: request.options?.initialMetadata ?? HPACKHeaders(),
      sent: body.totals,
      received: inbound.totals,
      previousAttempts: request.previousAttempts
    )
  }
}
