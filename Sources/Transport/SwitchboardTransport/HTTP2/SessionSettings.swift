// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2

/// The settings that one side sends when a connection starts, and its own limits.
struct SessionSettings {
  var maxConcurrentStreams = 100
  var streamWindow = 1 << 20
  var connectionWindow = 4 << 20
  /// The maximum that the windows may grow to.
  var windowLimit = 8 << 20
  /// How many bytes of all streams together may be unread before the whole connection waits.
  var unreadLimit = 64 << 20
  var maxFrameSize = 64 * 1024
  var maxHeaderListSize = 16 * 1024
  var isServer = true
  /// The size of the table for decompressing headers, which is sent to the peer. `nil`: HTTP/2's default.
  var headerTableSize: Int?
  /// The maximum size of the table for compressing headers. `nil`: nghttp2's default.
  var maxEncoderTableSize: Int?
  /// The largest header block that is sent to a peer that has not stated a limit, as HTTP/2 counts it. nghttp2's own
  /// count of a block is not larger.
  static let largestSentHeaders = 1 << 20
  /// How many frames that serve no call the peer may send at once.
  var controlFrameAllowance = 1000
  /// How many frames may wait for a peer that reads nothing. A client sends few frames besides requests, whose number the
  /// application determines.
  var unsentFrameLimit = Int.max
  /// Whether nghttp2 is spared what repeats from call to call.
  var takesShortcuts = Shortcuts.areOn

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

/// Makes nghttp2 sessions with this library's callbacks and options.
enum SessionFactory {
  static func make(_ role: Session.Role, _ settings: SessionSettings, _ memory: nghttp2_mem) -> OpaquePointer?
  {
    var session: OpaquePointer?
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else { return nil }
    defer { nghttp2_option_del(option) }
    // Windows are reopened when messages are read, not when bytes arrive. This provides backpressure.
    nghttp2_option_set_no_auto_window_update(option, 1)
    // Closed streams are released at once. nghttp2 would keep as many of them as may be open, for their place among the
    // priorities. Each call would then use new memory, which is not in the processor's caches.
    nghttp2_option_set_no_closed_streams(option, 1)
    nghttp2_option_set_max_send_header_block_length(option, SessionSettings.largestSentHeaders)
    if let limit = settings.maxEncoderTableSize {
      nghttp2_option_set_max_deflate_dynamic_table_size(option, limit)
    }
    // One read may contain more pings than nghttp2 holds answers for by default. `FloodGuard` must see them first. This
    // limit is for a peer that does not read.
    nghttp2_option_set_max_outbound_ack(option, 4000)
    // Leading and trailing spaces of a value are forbidden today, but older gRPC status messages have them.
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
    // nghttp2 counts a CONTINUATION once for each piece in which its header arrives, and by default accepts eight.
    // `FloodGuard` limits the frames, and sees the first one too many before this does.
    nghttp2_option_set_max_continuations(option, (FloodGuard.continuationLimit + 1) * FloodGuard.headSize)
    // `FloodGuard` limits resets, in a way that does not affect clients that cancel many calls.
    nghttp2_option_set_stream_reset_rate_limit(option, .max, .max)
    if role == .client { nghttp2_option_set_peer_max_concurrent_streams(option, 100) }
    var memory = memory
    let result =
      role == .server
      ? nghttp2_session_server_new3(&session, SessionCallbacks.table.raw, nil, option, &memory)
      : nghttp2_session_client_new3(&session, SessionCallbacks.table.raw, nil, option, &memory)
    return result == 0 ? session : nil
  }
}

/// The library that speaks HTTP/2.
package enum HTTP2Library {
  package static var version: String {
    nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? ""
  }
}
