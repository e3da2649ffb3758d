import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// How calls say which session they belong to: by a cookie (gRFC A55).
struct SessionRule: Hashable, Sendable {
  /// The cookie.
  var name: [UInt8]
  /// Of the methods that have sessions, and all below it; empty for all.
  var path: [UInt8] = []
  /// How long the application keeps the cookie.
  var lifetime = Duration.zero

  /// Whether calls of the method have sessions (RFC 6265, section 5.1.4).
  func isFor(_ method: [UInt8]) -> Bool {
    guard method.starts(with: path) else { return false }
    let slash = UInt8(ascii: "/")
    return path.isEmpty || path.count == method.count || path.last == slash || method[path.count] == slash
  }
}

/// The filter of a listener for sessions. Without a rule, calls have none unless another one is for them.
struct SessionFilter: Hashable, Sendable {
  let name: ExactText
  let rule: SessionRule?
}

/// What is said for some calls instead.
struct SessionOverride: Hashable, Sendable {
  let rule: SessionRule?
}

extension SessionRule {
  private static let lengthLimit = 1024

  /// `nil` if calls have no sessions.
  init?(_ message: Envoy_Extensions_Filters_Http_StatefulSession_V3_StatefulSession) throws(ResourceFault) {
    guard message.hasSessionState else { return nil }
    self = try part("session_state.typed_config") { () throws(ResourceFault) in
      let state = try message.sessionState.typedConfig.contents(
        Envoy_Extensions_Http_StatefulSession_Cookie_V3_CookieBasedSessionState.self
      )
      guard state.hasCookie else { throw ResourceFault("cookie", "is missing") }
      return try part("cookie") { () throws(ResourceFault) in try SessionRule(state.cookie) }
    }
  }

  private init(_ cookie: Envoy_Type_Http_V3_Cookie) throws(ResourceFault) {
    guard !cookie.name.isEmpty else { throw ResourceFault("name", "is empty") }
    name = try cookie.name.ofCookie("name", limit: Self.lengthLimit, but: "=;,\"")
    path = try cookie.path.ofCookie("path", limit: Self.lengthLimit, but: ";")
    if cookie.hasTtl { lifetime = try cookie.ttl.length("ttl") }
  }
}

extension String {
  /// The text, which must be fit for a cookie: visible, and without characters that end it.
  fileprivate func ofCookie(_ path: String, limit: Int, but others: String) throws(ResourceFault) -> [UInt8] {
    guard utf8.count <= limit else { throw ResourceFault(path, "has more than \(limit) bytes") }
    guard utf8.allSatisfy({ (0x21...0x7E).contains($0) && !others.utf8.contains($0) }) else {
      throw ResourceFault(path, "has characters that no cookie may have: \(excerpt)")
    }
    return Array(utf8)
  }
}
