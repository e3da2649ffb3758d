import SwitchboardCall

/// How the bytes that arrive are settled with the peer's windows.
struct InboundAccount {
  /// Bytes that lie unread, against the windows of their streams.
  private var unread = 0
  /// Bytes that the connection's window is owed on top.
  private var owed = 0
  private let limit: Int
  var link: LinkEstimator

  init(limit: Int, link: LinkEstimator) {
    self.limit = limit
    self.link = link
  }

  /// Bytes came for a stream whose reader is behind. Returns what to give back to the connection, so that other
  /// streams go on: nothing, when too much lies unread already.
  mutating func hold(_ byteCount: Int) -> Int {
    unread += byteCount
    if unread <= limit { return byteCount }
    owed += byteCount
    return 0
  }

  /// Held bytes were read, or are of no use any more. Returns what to give back to the connection.
  mutating func release(_ byteCount: Int) -> Int {
    unread -= byteCount
    guard owed > 0, unread <= limit else { return 0 }
    defer { owed = 0 }
    return owed
  }
}

extension Connection {
  static let measuringPing: UInt64 = 0x7377_6974_6368_6c6b

  /// Bytes came on a stream; `credit` says how many the stream's reader has room for, among them such as were
  /// held before.
  final func settle(arrived byteCount: Int, credit: Int, on id: Int32) {
    if let http1 { return http1.settle(hasRoom: credit > 0) }
    if credit == byteCount {
      session.consume(id, byteCount)
      if inbound.link.add(byteCount) { lookAtLink() }
    } else if credit == 0 {
      session.consumeConnection(inbound.hold(byteCount))
    } else {
      session.consumeConnection(byteCount + inbound.release(credit - byteCount))
      session.consumeStream(id, credit)
    }
  }

  /// What was held on a stream has been read.
  final func settle(released byteCount: Int, on id: Int32) {
    if let http1 { return http1.settle(hasRoom: true) }
    session.consumeStream(id, byteCount)
    forget(byteCount)
  }

  /// What was held on a stream that is gone.
  final func forget(_ byteCount: Int) {
    guard byteCount > 0, http1 == nil else { return }
    session.consumeConnection(inbound.release(byteCount))
    setNeedsFlush()
  }

  private func lookAtLink() {
    if inbound.link.look(now: loop.now) { session.ping(Self.measuringPing) }
  }

  /// `true` when the ping was one of ours that measure.
  final func takeMeasuringPing(_ payload: UInt64) -> Bool {
    guard payload == Self.measuringPing else { return false }
    if let window = inbound.link.pingAnswered(now: loop.now) { session.growWindows(to: window) }
    return true
  }
}
