import SwitchboardText

/// The frames with which a server rejects a client without a session.
enum PlainGoAway {
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
  private static let goAway: UInt8 = 7

  /// Empty SETTINGS, which must come first, and GOAWAY for all streams.
  static func bytes(_ code: HTTP2Error, _ reason: String) -> [UInt8] {
    let text = Array(reason.excerpt.utf8)
    let length = UInt16(8 + text.count)
    let head: [UInt8] = [0, UInt8(length >> 8), UInt8(length & 0xFF), goAway, 0, 0, 0, 0, 0]
    return settings + head + [0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: code.rawValue)] + text
  }
}
