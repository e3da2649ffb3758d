import SwitchboardCall

/// Requests a tunnel from a SOCKS 5 proxy (RFC 1928), with a user and a password if given (RFC 1929). The proxy
/// resolves names.
///
/// ```
///   method ──none──────────────────> answer ──0──> open
///          ──password──> verdict ──0──^     ──else──> refused
///          ──else──────> refused
/// ```
struct SOCKS5: ProxyDialogue {
  private enum State {
    case method, verdict, answer
  }

  private enum Method {
    static let none: UInt8 = 0
    static let password: UInt8 = 2
    static let unacceptable: UInt8 = 0xff
  }

  private enum AddressKind {
    static let ipv4: UInt8 = 1
    static let name: UInt8 = 3
    static let ipv6: UInt8 = 4
  }

  private static let version: UInt8 = 5
  private static let passwordVersion: UInt8 = 1

  let opening: [UInt8]
  private let destination: ProxyDestination
  private let credentials: ProxyCredentials?
  private var state = State.method
  /// The received part of the current answer. No answer is longer than 262 bytes.
  private var arrived: [UInt8] = []

  init(to destination: ProxyDestination, _ credentials: ProxyCredentials?) {
    self.destination = destination
    self.credentials = credentials
    let methods = credentials == nil ? [Method.none] : [Method.none, Method.password]
    opening = [Self.version, UInt8(methods.count)] + methods
  }

  mutating func receive(_ bytes: inout ArraySlice<UInt8>) -> ProxyStep {
    while let byte = bytes.popFirst() {
      arrived.append(byte)
      if let step = read() { return step }
    }
    return .wait
  }

  /// `nil` if the current answer is incomplete. Called with each of its bytes.
  private mutating func read() -> ProxyStep? {
    guard arrived[0] == (state == .verdict ? Self.passwordVersion : Self.version) else {
      return .failed(.nonsense)
    }
    guard arrived.count > 1 else { return nil }
    guard state == .answer else {
      let result = arrived[1]
      arrived = []
      return proceed(result)
    }
    // The bytes after a refusal do not matter, and some proxies send none.
    if arrived[1] != 0 { return .failed(.refused(Self.shown(arrived[1]))) }
    guard arrived.count > 4 else { return nil }
    guard let length = answerLength else { return .failed(.nonsense) }
    return arrived.count == length ? .open : nil
  }

  /// The length of an answer: the version, the result, a zero, the kind of address, the address, and two bytes of a port.
  /// `nil` for another kind of address.
  private var answerLength: Int? {
    switch arrived[3] {
    case AddressKind.ipv4: return 4 + 4 + 2
    case AddressKind.ipv6: return 4 + 16 + 2
    case AddressKind.name: return 4 + 1 + Int(arrived[4]) + 2
    default: return nil
    }
  }

  private mutating func proceed(_ result: UInt8) -> ProxyStep {
    switch (state, result, credentials) {
    case (.method, Method.none, _), (.verdict, 0, _):
      state = .answer
      return .send(request)
    case (.method, Method.password, let credentials?):
      state = .verdict
      let (user, password) = (Self.counted(credentials.user), Self.counted(credentials.password))
      return .send([Self.passwordVersion] + user + password)
    case (.method, Method.unacceptable, nil): return .failed(.refused("it requires authentication"))
    case (.method, Method.unacceptable, _): return .failed(.refused("it does not accept passwords"))
    case (.verdict, _, _): return .failed(.refused("\(result) authentication failed"))
    default: return .failed(.nonsense)
    }
  }

  private static func counted(_ text: String) -> [UInt8] {
    // Longer texts were already rejected in the options and the target.
    [UInt8(clamping: text.utf8.count)] + text.utf8.prefix(255)
  }

  private var request: [UInt8] {
    let address =
      switch destination.ipBytes {
      case nil: [AddressKind.name] + Self.counted(destination.host)
      case let bytes?: [bytes.count == 4 ? AddressKind.ipv4 : AddressKind.ipv6] + bytes
      }
    let port = UInt16(clamping: destination.port)
    return [Self.version, 1, 0] + address + [UInt8(port >> 8), UInt8(port & 0xff)]
  }

  /// The meanings of the results from 1.
  private static let refusals = [
    "general failure", "not allowed by its rules", "network unreachable", "host unreachable",
    "connection refused", "time to live expired", "command not supported", "kind of address not supported",
  ]

  private static func shown(_ result: UInt8) -> String {
    let index = Int(result) - 1
    return refusals.indices.contains(index) ? "\(result) \(refusals[index])" : "\(result)"
  }
}
