import SwitchboardCall
import SwitchboardText

/// Asks an HTTP proxy for a tunnel (RFC 9110, section 9.3.6; gRFC A1).
///
/// ```
///   status ──1xx──> head ──empty line──> status
///          ──2xx──> head ──empty line──> open
///          ──else─> refused
/// ```
struct HTTPConnect: ProxyDialogue {
  private enum State {
    case status
    /// After a status line. `isLast` is false for an informational one.
    case head(isLast: Bool)
  }

  /// The size limit of everything that the proxy sends before the tunnel.
  static let answerLimit = 16 * 1024
  /// How much of the proxy's reason is repeated in errors.
  private static let reasonLimit = 200
  private static let version = Array("HTTP/1.".utf8)

  let opening: [UInt8]
  private var state = State.status
  /// The part of the current line that has arrived.
  private var line: [UInt8] = []
  private var room = answerLimit

  init(to destination: ProxyDestination, _ credentials: ProxyCredentials?) {
    let authority = destination.authority
    var head = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
    if let credentials { head += "Proxy-Authorization: Basic \(Self.basic(credentials))\r\n" }
    opening = Array("\(head)\r\n".utf8)
  }

  /// RFC 7617, in base64 with padding.
  private static func basic(_ credentials: ProxyCredentials) -> String {
    String(decoding: Base64.padded("\(credentials.user):\(credentials.password)".utf8), as: UTF8.self)
  }

  mutating func receive(_ bytes: inout ArraySlice<UInt8>) -> ProxyStep {
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      guard take(bytes[...end]) else { return .failed(.tooLong(limit: Self.answerLimit)) }
      bytes = bytes[(end + 1)...]
      if let step = readLine() { return step }
    }
    guard take(bytes) else { return .failed(.tooLong(limit: Self.answerLimit)) }
    bytes = []
    return startsWell ? .wait : .failed(.nonsense)
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.count <= room else { return false }
    room -= bytes.count
    line += bytes
    return true
  }

  /// Whether the incomplete line can become a status line. Another protocol may never end a line.
  private var startsWell: Bool {
    guard case .status = state else { return true }
    let start = line.prefix(Self.version.count)
    return start.elementsEqual(Self.version.prefix(start.count))
  }

  /// `nil` if more has to be read.
  private mutating func readLine() -> ProxyStep? {
    var text = line.dropLast()
    line = []
    if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
    switch state {
    case .status: return readStatus(text)
    case .head(let isLast):
      guard text.isEmpty else { return Self.isField(text) ? nil : .failed(.nonsense) }
      state = .status
      return isLast ? .open : nil
    }
  }

  private mutating func readStatus(_ text: ArraySlice<UInt8>) -> ProxyStep? {
    // The version with its last digit, a space, three digits and, usually, a space and a reason.
    let parts = text.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard text.starts(with: Self.version), parts.count > 1, parts[0].count == Self.version.count + 1,
      parts[1].count == 3, let code = Int(String(decoding: parts[1], as: UTF8.self)), code >= 100
    else { return .failed(.nonsense) }
    switch code {
    // RFC 9110: any successful response to CONNECT opens the tunnel, whatever its fields say about a body.
    case 200...299: state = .head(isLast: true)
    case 100...199 where code != 101: state = .head(isLast: false)
    default: return .failed(.refused(Self.shown(code, parts.count > 2 ? parts[2] : [])))
    }
    return nil
  }

  /// Whether the line is a name without spaces, a colon, and a value without control characters. None of the fields is used.
  private static func isField(_ line: ArraySlice<UInt8>) -> Bool {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let (name, value) = (line[..<colon], line[colon...])
    return !name.isEmpty && name.allSatisfy { (0x21...0x7e).contains($0) }
      && value.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") }
  }

  private static func shown(_ code: Int, _ reason: ArraySlice<UInt8>) -> String {
    let visible = reason.prefix(reasonLimit).map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
    return visible.isEmpty ? "\(code)" : "\(code) \(String(decoding: visible, as: UTF8.self))"
  }
}
