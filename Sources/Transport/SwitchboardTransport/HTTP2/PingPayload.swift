/// The payloads of the pings that a connection sends, by which it recognizes the answers.
enum PingPayload {
  static let keepalive: UInt64 = 0
  /// Measures the link; see `LinkEstimator`.
  static let measuring: UInt64 = 0x7377_6974_6368_6c6b
  /// Follows the announcement that the connection will accept no more streams.
  static let draining: UInt64 = 0x7377_6974_6368_6264
}
