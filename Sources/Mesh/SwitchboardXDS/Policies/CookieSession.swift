import SwitchboardCall
import SwitchboardText

/// The session of a call, as its cookie says: which server an earlier call went to. It follows the call to the server that answers.
final class CookieSession: CallSession {
  private let rule: SessionRule
  private let sent: SessionCookie?
  /// The cluster that the call goes to.
  private let cluster: String
  /// The addresses of servers that have several, by each of them.
  private let lists = Locked<[ExactText: String]>([:])
  private let passed = Locked(false)

  init(_ rule: SessionRule, _ sent: SessionCookie?, cluster: String) {
    self.rule = rule
    self.sent = sent
    self.cluster = cluster
  }

  /// The addresses of the server that the call should go to.
  var wanted: [ExactText] { sent?.addresses ?? [] }

  /// The servers that the call may go to: the addresses of those with several, by each.
  func mayGo(to lists: [ExactText: String]) {
    if !lists.isEmpty { self.lists.withLock { $0 = lists } }
  }

  /// Whether the call has not been one of those that the control plane has dropped.
  var hasPassedDrops: Bool { passed.withLock { $0 } }

  func passDrops() { passed.withLock { $0 = true } }

  func cookie(from server: String) -> String? {
    let list = lists.withLock { $0[server] } ?? server
    // What would not be read again is not sent.
    guard SessionCookie.hasRoom(for: list, cluster) else { return nil }
    if let sent, sent.list.isExactly(list), sent.cluster?.isExactly(cluster) == true { return nil }
    let value = String(decoding: Base64.padded("\(list);\(cluster)".utf8), as: UTF8.self)
    var cookie = "\(String(decoding: rule.name, as: UTF8.self))=\(value); HttpOnly"
    if !rule.path.isEmpty { cookie += "; Path=\(String(decoding: rule.path, as: UTF8.self))" }
    // Zero would have the application forget it at once.
    if rule.lifetime > .zero { cookie += "; Max-Age=\(max(1, rule.lifetime.components.seconds))" }
    return cookie
  }
}

/// What the cookie of a session says: the addresses of a server, and the cluster that it is in (gRFC A60).
struct SessionCookie: Sendable {
  /// A longer one is none of ours.
  private static let lengthLimit = 8192
  /// No server has more addresses.
  private static let addressLimit = 64

  /// The addresses, with commas between them.
  let list: String
  /// Each of them.
  let addresses: [ExactText]
  let cluster: String?

  /// Whether a cookie of these addresses in this cluster is short enough.
  static func hasRoom(for list: String, _ cluster: String) -> Bool {
    (list.utf8.count + cluster.utf8.count + 3) / 3 * 4 <= lengthLimit
  }

  /// The first cookie of the name in a call's metadata; `nil` if there is none, or if it cannot be read.
  init?(_ name: [UInt8], in metadata: HPACKHeaders) {
    guard let value = metadata["cookie"].lazy.compactMap({ Self.value(of: name, in: Array($0.utf8)) }).first,
      value.count <= Self.lengthLimit, let bytes = Base64.decode(Array(value)),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
    list = String(Substring(parts[0]))
    addresses = parts[0].split(separator: UInt8(ascii: ","), maxSplits: Self.addressLimit)
      .prefix(Self.addressLimit).map { ExactText(String(Substring($0))) }
    cluster = parts.count > 1 ? String(Substring(parts[1])) : nil
  }

  /// The value of a cookie among those of a field.
  private static func value(of name: [UInt8], in field: [UInt8]) -> ArraySlice<UInt8>? {
    for cookie in field.split(separator: UInt8(ascii: ";")) {
      let text = cookie.drop { $0 == UInt8(ascii: " ") }
      guard text.count > name.count, text.starts(with: name),
        text[text.startIndex + name.count] == UInt8(ascii: "=")
      else { continue }
      return text[(text.startIndex + name.count + 1)...]
    }
    return nil
  }
}
