/// The frames with which a server that cannot hold a session at all turns a client away.
enum PlainGoAway {
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
  private static let goAway: UInt8 = 7

  /// Empty settings, which have to come first, then GOAWAY for all streams.
  static func bytes(_ code: HTTP2Error, _ reason: String) -> [UInt8] {
    let text = Array(reason.utf8.prefix(100))
    let head: [UInt8] = [0, 0, UInt8(8 + text.count), goAway, 0, 0, 0, 0, 0]
    return settings + head + [0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: code.rawValue)] + text
  }
}
