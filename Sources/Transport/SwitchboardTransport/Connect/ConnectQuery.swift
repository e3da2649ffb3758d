import SwitchboardCall
import SwitchboardText

/// The query of a Connect GET, which contains the message: `?connect=v1&base64=1&encoding=proto&message=CgNib2I`.
///
/// The first parameter of each name counts. Unknown parameters are ignored, because caches and browsers add some.
struct ConnectQuery: Equatable {
  private(set) var message: [UInt8]?
  private(set) var encoding: String?
  private(set) var compression: String?
  private(set) var version: String?
  private(set) var isBase64 = false

  /// `nil` if a parameter of the protocol is not well-formed.
  init?(_ query: some Collection<UInt8>) {
    var seen: Set<ExactText> = []
    for parameter in query.split(separator: UInt8(ascii: "&")) {
      let parts = parameter.split(
        separator: UInt8(ascii: "="),
        maxSplits: 1,
        omittingEmptySubsequences: false
      )
      guard let name = Self.name(parts[0]), seen.insert(name) else { continue }
      guard let value = Self.decode(parts.count > 1 ? Array(parts[1]) : []) else { return nil }
      switch name {
      case "message": message = value
      case "encoding": encoding = String(decoding: value, as: UTF8.self)
      case "compression": compression = String(decoding: value, as: UTF8.self)
      case "connect": version = String(decoding: value, as: UTF8.self)
      default: isBase64 = value == [UInt8(ascii: "1")]
      }
    }
    guard isBase64, let text = message else { return }
    guard let decoded = Self.decodeBase64(text) else { return nil }
    message = decoded
  }

  private static func name(_ text: some Collection<UInt8>) -> String? {
    guard text.count <= 11, let name = decode(Array(text)) else { return nil }
    let known = ["message", "encoding", "compression", "connect", "base64"]
    return known.first { $0.utf8.elementsEqual(name) }
  }

  private static func decode(_ text: [UInt8]) -> [UInt8]? {
    PercentEncoding.decodeStrictly(text, .form)
  }

  /// RFC 4648 with the standard or the URL-safe alphabet, with or without padding.
  private static func decodeBase64(_ text: [UInt8]) -> [UInt8]? {
    // An unescaped plus is a space by now.
    Base64.decodeEither(text.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }[...])
  }
}
