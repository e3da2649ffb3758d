import CNghttp2

/// What one side tells the other about itself when a connection starts.
struct SessionSettings {
  var maxConcurrentStreams = 100
  var streamWindow = 1 << 20
  var connectionWindow = 4 << 20
  /// What the windows may grow to.
  var windowLimit = 8 << 20
  /// How much may lie unread in all streams together before the whole connection waits.
  var unreadLimit = 64 << 20
  var maxFrameSize = 64 * 1024
  var maxHeaderListSize = 16 * 1024
  var isServer = true
  /// What our decompression of headers may remember; the peer is told. `nil`: what HTTP/2 has by default.
  var headerTableSize: Int?
  /// What our compression of headers remembers at the most. `nil`: what nghttp2 has by default.
  var maxEncoderTableSize: Int?
  /// The largest block of headers that is sent to a peer that has not said how much it takes, as HTTP/2 counts it. By its
  /// own count, nghttp2 finds no more than that in it.
  static let largestSentHeaders = 1 << 20
  /// How many frames that carry nothing for a call the peer may send at once.
  var controlFrameAllowance = 1000

  var entries: [nghttp2_settings_entry] {
    var entries = [
      entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, streamWindow),
      entry(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, maxFrameSize),
      entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, maxHeaderListSize),
    ]
    if isServer {
      entries.append(entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams))
    } else {
      entries.append(entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0))
    }
    if let headerTableSize { entries.append(entry(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, headerTableSize)) }
    return entries
  }

  private func entry(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
    nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
  }
}

/// Makes nghttp2 sessions with our callbacks and options.
enum SessionFactory {
  static func make(_ role: Session.Role, _ settings: SessionSettings, _ memory: BlockPool) -> OpaquePointer? {
    var session: OpaquePointer?
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else { return nil }
    defer { nghttp2_option_del(option) }
    // Windows open as messages are read, not as bytes arrive: that is the backpressure.
    nghttp2_option_set_no_auto_window_update(option, 1)
    // A stream that has ended is let go of at once. nghttp2 would keep as many as may be open, for the places that they had
    // among priorities: memory that each call goes through anew, and so out of the processor's caches.
    nghttp2_option_set_no_closed_streams(option, 1)
    nghttp2_option_set_max_send_header_block_length(option, SessionSettings.largestSentHeaders)
    if let limit = settings.maxEncoderTableSize {
      nghttp2_option_set_max_deflate_dynamic_table_size(option, limit)
    }
    // One read can bring more pings than nghttp2 holds answers for by default: `FloodGuard` is to see them
    // first, and this to hold for a peer that does not read.
    nghttp2_option_set_max_outbound_ack(option, 4000)
    // Spaces at the ends of a value are forbidden today, but gRPC's messages of statuses had them before that.
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
    // `FloodGuard` limits resets, by a measure that clients which cancel many calls do not reach.
    nghttp2_option_set_stream_reset_rate_limit(option, .max, .max)
    if role == .client { nghttp2_option_set_peer_max_concurrent_streams(option, 100) }
    var memory = memory.sessionMemory
    let result =
      role == .server
      ? nghttp2_session_server_new3(&session, SessionCallbacks.table.raw, nil, option, &memory)
      : nghttp2_session_client_new3(&session, SessionCallbacks.table.raw, nil, option, &memory)
    return result == 0 ? session : nil
  }
}
