/// The version of HTTP that a connection speaks.
///
/// ```
///   (nothing) ──an option, TLS or the peer's first bytes decide──> HTTP/2
///                                       └────────────────────────> HTTP/1.1
/// ```
/// Until then there is no session. Afterwards it is never replaced.
package enum SpokenVersion {
  case http1, http2

  /// `nil` if these bytes may begin both.
  package init?(firstBytes bytes: [UInt8]) {
    let preface = "PRI".utf8
    guard bytes.count >= preface.count || !preface.starts(with: bytes) else { return nil }
    self = bytes.starts(with: preface) ? .http2 : .http1
  }
}
