import CNghttp2

/// Accounts for received bytes, and decides when to open the peer's windows.
struct InboundAccount {
  /// Unread bytes, which count against the windows of their streams.
  private var unread = 0
  /// Bytes for which the connection's window must still be opened.
  private var owed = 0
  /// How many unread bytes are held before the whole connection must wait.
  let limit: Int
  var link: LinkEstimator

  init(limit: Int, link: LinkEstimator) {
    self.limit = limit
    self.link = link
  }

  /// Holds bytes of a stream whose reader has no room. Returns by how much to open the connection's window, so that
  /// other streams continue: zero if too much is unread already.
  mutating func hold(_ byteCount: Int) -> Int {
    unread += byteCount
    if unread <= limit { return byteCount }
    owed += byteCount
    return 0
  }

  /// Releases held bytes, which were read or are no longer needed. Returns by how much to open the connection's window.
  mutating func release(_ byteCount: Int) -> Int {
    unread -= byteCount
    guard owed > 0, unread <= limit else { return 0 }
    defer { owed = 0 }
    return owed
  }
}

extension Session {
  func settle(arrived byteCount: Int, credit: Int, on id: Int32) {
    if credit == byteCount {
      nghttp2_session_consume(raw, id, byteCount)
      if inbound.link.add(byteCount) { measureLink() }
    } else if credit == 0 {
      consumeConnection(inbound.hold(byteCount))
    } else {
      consumeConnection(byteCount + inbound.release(credit - byteCount))
      nghttp2_session_consume_stream(raw, id, credit)
    }
  }

  func settle(released byteCount: Int, on id: Int32) {
    nghttp2_session_consume_stream(raw, id, byteCount)
    forget(byteCount)
  }

  func forget(_ byteCount: Int) { consumeConnection(inbound.release(byteCount)) }

  /// Opens the connection's window but not the stream's, so that other streams continue.
  private func consumeConnection(_ byteCount: Int) {
    nghttp2_session_consume_connection(raw, byteCount)
  }

  private func measureLink() {
    if inbound.link.shouldPing(now: delegate?.sessionNow ?? 0) { ping(PingPayload.measuring) }
  }

  /// Called when a ping was answered. Returns `true` if it was a measuring one.
  func takeMeasurement(_ payload: UInt64, now: UInt64) -> Bool {
    guard payload == PingPayload.measuring else { return false }
    if let window = inbound.link.pingAnswered(now: now) { growWindows(to: window) }
    return true
  }

  /// Lets the peer send more before it must wait, on each stream and on the whole connection.
  private func growWindows(to window: Int) {
    if streamLimit == nil { announce(streamWindow: window) }
    guard window > connectionWindow else { return }
    connectionWindow = window
    nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: window))
  }

  /// Lets the peer send at most so much on each stream before it is read, or, if `nil`, as much as the link is worth. What a
  /// stream has received beyond that comes first.
  func limitStreams(to limit: Int?) {
    guard limit != streamLimit else { return }
    streamLimit = limit
    announce(streamWindow: min(limit ?? .max, inbound.link.window))
  }

  private func announce(streamWindow: Int) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
      value: UInt32(clamping: streamWindow)
    )
    nghttp2_submit_settings(raw, 0, &entry, 1)
  }

  /// How many bytes this side may send on the connection for now.
  var sendWindow: Int { Int(nghttp2_session_get_remote_window_size(raw)) }

  /// How many bytes the peer may send for now.
  var receiveWindow: Int { Int(nghttp2_session_get_local_window_size(raw)) }
}
