import SwitchboardCall
import SwitchboardNetwork

extension Connection {
  /// The connection's number and peer.
  func reference(_ number: Int) -> ConnectionSnapshot.Reference {
    let named = socket.remoteAddress.flatMap { $0.isUnnamed ? nil : $0 } ?? socket.localAddress
    return ConnectionSnapshot.Reference(number: number, name: named?.description ?? "")
  }

  /// Call on the loop.
  func snapshot(_ number: Int, isServer: Bool) -> ConnectionSnapshot {
    let clock = LoopClock(loop)
    return ConnectionSnapshot(
      reference: reference(number),
      isServer: isServer,
      localAddress: socket.localAddress,
      remoteAddress: socket.remoteAddress,
      security: tls?.security,
      streamsStarted: counters.streamsStarted,
      streamsSucceeded: counters.streamsSucceeded,
      streamsFailed: counters.streamsFailed,
      messagesSent: counters.messagesSent,
      messagesReceived: counters.messagesReceived,
      keepalivesSent: counters.keepalivesSent,
      lastStreamStarted: clock.instant(of: counters.lastStream),
      lastMessageSent: clock.instant(of: counters.lastMessageSent),
      lastMessageReceived: clock.instant(of: counters.lastMessageReceived),
      abuses: counters.abuses,
      http2: http2.map { ConnectionSnapshot.HTTP2($0) }
    )
  }
}

extension ConnectionSnapshot.HTTP2 {
  fileprivate init(_ session: Session) {
    sendWindow = session.sendWindow
    receiveWindow = session.receiveWindow
    goAwayError = session.end.received
    peerMaxConcurrentStreams = session.peerLimits.streams
  }
}
