import SwitchboardBalancing
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The answers of proxies, without sockets, and the URLs of proxies with the targets that need none.
enum ProxyTarget {
  private struct Outcome: Equatable {
    var said: [UInt8] = []
    var unread: [UInt8]?
    var failure: ProxyFailure?
  }

  /// The first byte chooses the protocol, and whether there are credentials; the second is the size of the pieces in
  /// which the rest is fed: the result must be that for the whole.
  static func run(_ input: [UInt8]) throws {
    guard input.count >= 2 else { return }
    let answer = input.dropFirst(2)
    guard input[0] & 4 == 0 else { return try environment(answer) }
    let credentials = input[0] & 2 == 0 ? nil : ProxyCredentials(user: "alice", password: "sesame")
    let destination = try ProxyDestination(name: "example.com", port: 443)
    let dialogue: any ProxyDialogue =
      input[0] & 1 == 0 ? HTTPConnect(to: destination, credentials) : SOCKS5(to: destination, credentials)
    let whole = try outcome(dialogue, answer, pieces: max(1, answer.count))
    let pieces = try outcome(dialogue, answer, pieces: max(1, Int(input[1])))
    try BrokenPromise.unless(whole == pieces, "pieces of \(input[1]) give another tunnel than the whole")
    try check(whole, answer)
  }

  private static func outcome(
    _ dialogue: any ProxyDialogue,
    _ answer: ArraySlice<UInt8>,
    pieces size: Int
  ) throws -> Outcome {
    var dialogue = dialogue
    var outcome = Outcome()
    var left = answer
    while !left.isEmpty {
      var piece = left.prefix(size)
      left = left.dropFirst(size)
      var isWaiting = false
      while !isWaiting {
        switch dialogue.receive(&piece) {
        case .wait:
          try BrokenPromise.unless(piece.isEmpty, "\(piece.count) bytes are left unread")
          isWaiting = true
        case .send(let bytes): outcome.said += bytes
        case .open:
          outcome.unread = Array(piece) + left
          return outcome
        case .failed(let failure):
          outcome.failure = failure
          return outcome
        }
      }
    }
    return outcome
  }

  private static func check(_ outcome: Outcome, _ answer: ArraySlice<UInt8>) throws {
    if let unread = outcome.unread {
      try BrokenPromise.unless(
        answer.suffix(unread.count).elementsEqual(unread),
        "the tunnel starts elsewhere"
      )
      let read = answer.count - unread.count
      try BrokenPromise.unless(read <= HTTPConnect.answerLimit, "an answer of \(read) bytes is read")
    }
    guard case .refused(let status) = outcome.failure else { return }
    let isShown = status.utf8.count <= 210 && status.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    try BrokenPromise.unless(isShown, "a refusal cannot be shown: \(status.debugDescription)")
  }

  /// A URL and, after a line feed, a list of exceptions.
  private static func environment(_ input: ArraySlice<UInt8>) throws {
    let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    let environment = ProxyEnvironment(proxy: texts[0], exceptions: texts.count > 1 ? texts[1] : "")
    let targets: [[EndpointAddress]] = [
      [.name(host: "example.com", port: 80)], [.ipv4(0x0A01_0203, port: 80)],
      [.ipv6(high: 0xFD00_0000_0000_0000, low: 1, port: 80)], [.name(host: "localhost", port: 80)],
      [.ipv4(0x0A00_0001, port: 1), .ipv4(0x0808_0808, port: 2)],
    ]
    for target in targets {
      let route: ProxyRoute
      do throws(GRPCStatus) {
        route = try ProxyRoute(to: target, .environment, environment)
      } catch {
        try BrokenPromise.unless(error.code == .invalidArgument, "a proxy is rejected with \(error)")
        continue
      }
      try BrokenPromise.unless(!route.legs.isEmpty, "no way leads to \(target)")
      for case let tunnel? in route.legs.map(\.tunnel) {
        let opening = tunnel.proxy.dialogue(to: tunnel.destination).opening
        let lines = opening.count { $0 == UInt8(ascii: "\n") }
        try BrokenPromise.unless(lines == (tunnel.proxy.credentials == nil ? 3 : 4), "a line is broken")
        try BrokenPromise.unless(
          target != [.name(host: "localhost", port: 80)],
          "localhost is behind a proxy"
        )
      }
    }
  }
}
