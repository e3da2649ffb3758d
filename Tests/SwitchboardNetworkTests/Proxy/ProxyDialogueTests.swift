import SwitchboardCall
import Testing

@testable import SwitchboardNetwork

/// What is said to proxies, and how their answers are read: in pieces of every size.
@Suite struct ProxyDialogueTests {
  /// What has come of a dialogue.
  private struct Outcome: Equatable {
    var said: [UInt8] = []
    var isOpen = false
    var unread: [UInt8] = []
    var failure: ProxyFailure?
  }

  private func outcome(_ dialogue: any ProxyDialogue, _ answer: [UInt8], pieces size: Int) -> Outcome {
    var dialogue = dialogue
    var outcome = Outcome()
    var left = answer[...]
    while !left.isEmpty {
      var piece = left.prefix(size)
      left = left.dropFirst(size)
      reading: while true {
        switch dialogue.receive(&piece) {
        case .wait: break reading
        case .send(let bytes): outcome.said += bytes
        case .open:
          outcome.isOpen = true
          outcome.unread = Array(piece + left)
          return outcome
        case .failed(let failure):
          outcome.failure = failure
          return outcome
        }
      }
      #expect(piece.isEmpty)
    }
    return outcome
  }

  private func expect(_ dialogue: any ProxyDialogue, _ answer: [UInt8], _ expected: Outcome) {
    for size in [1, 2, 3, 5, 7, 100, max(1, answer.count)] {
      #expect(outcome(dialogue, answer, pieces: size) == expected, "in pieces of \(size)")
    }
  }

  private static let alice = ProxyCredentials(user: "alice", password: "open sesame")

  private func name(_ name: String = "example.com", _ port: Int = 443) throws -> ProxyDestination {
    try ProxyDestination(name: name, port: port)
  }

  private func address(_ host: String) throws -> ProxyDestination {
    try #require(SocketAddress.numeric(host, port: 258).flatMap { ProxyDestination($0) })
  }

  // MARK: HTTP

  @Test func connectRequestsNameTheTarget() throws {
    #expect(
      try String(decoding: HTTPConnect(to: name(), nil).opening, as: UTF8.self)
        == "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"
    )
    #expect(
      try String(decoding: HTTPConnect(to: address("fd00::1"), Self.alice).opening, as: UTF8.self)
        == "CONNECT [fd00::1]:258 HTTP/1.1\r\nHost: [fd00::1]:258\r\n"
        + "Proxy-Authorization: Basic YWxpY2U6b3BlbiBzZXNhbWU=\r\n\r\n"
    )
  }

  @Test(arguments: [("a", "b", "YTpi"), ("a", "bc", "YTpiYw=="), ("a", "", "YTo="), ("é", "%", "w6k6JQ==")])
  func credentialsAreEncoded(_ sample: (user: String, password: String, encoded: String)) throws {
    let credentials = ProxyCredentials(user: sample.user, password: sample.password)
    let head = try String(decoding: HTTPConnect(to: name(), credentials).opening, as: UTF8.self)
    #expect(head.hasSuffix("\r\nProxy-Authorization: Basic \(sample.encoded)\r\n\r\n"))
  }

  @Test(arguments: [
    "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nProxy-agent: tinyproxy/1.11.1\r\n\r\n",
    "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 \r\n\r\n", "HTTP/1.1 204 x\nVia: y\n\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 299 y\r\n\r\n",
  ])
  func aSuccessOpensTheTunnelAndKeepsWhatFollows(_ head: String) throws {
    let dialogue = try HTTPConnect(to: name(), nil)
    for unread in [[], [1, 2, 3], Array("HTTP/1.1 500\r\n\r\n".utf8)] as [[UInt8]] {
      expect(dialogue, Array(head.utf8) + unread, Outcome(isOpen: true, unread: unread))
    }
  }

  @Test(arguments: [
    ("HTTP/1.1 407 Proxy Authentication Required\r\n", "407 Proxy Authentication Required"),
    ("HTTP/1.1 503\r\n", "503"), ("HTTP/1.1 302 \r\n", "302"), ("HTTP/1.0 101 Switching\n", "101 Switching"),
    ("HTTP/1.1 403 a\u{1b}[1mb\u{7f}\r\n", "403 a?[1mb?"),
    ("HTTP/1.1 600 \(String(repeating: "x", count: 201))\r\n", "600 \(String(repeating: "x", count: 200))"),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 Oops\r\n", "500 Oops"),
  ])
  func otherResponsesAreRefusals(_ sample: (answer: String, status: String)) throws {
    try expect(
      HTTPConnect(to: name(), nil),
      Array(sample.answer.utf8),
      Outcome(failure: .refused(sample.status))
    )
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n", "\r\n", "\n", "H\n", "HTTP/2.0 200 OK\r\n", "HTTP/1.1200 OK\r\n",
    "HTTP/1.1 20 OK\r\n",
    "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 099 OK\r\n", "HTTP/1.1 +20 OK\r\n", "HTTP/1.11 200 OK\r\n",
    "HTTP/1.1  200 OK\r\n", "HTTP/1.1\r\n", "http/1.1 200 OK\r\n", "\u{15}\u{3}\u{1}", "HTTQ",
    "HTTP/1.1 200 OK\r\nno colon\r\n", "HTTP/1.1 200 OK\r\n: value\r\n", "HTTP/1.1 200 OK\r\n folded: x\r\n",
    "HTTP/1.1 200 OK\r\nname: a\0b\r\n",
  ])
  func inputOtherThanHTTPIsRejected(_ answer: String) throws {
    try expect(HTTPConnect(to: name(), nil), Array(answer.utf8), Outcome(failure: .nonsense))
  }

  @Test func anEndlessHeadIsRejected() throws {
    let line = Array("name: \(String(repeating: "x", count: 92))\r\n".utf8)
    let start = Array("HTTP/1.1 200 \(String(repeating: "x", count: 1_009))\r\n".utf8)
    let room = HTTPConnect.answerLimit - start.count
    let head = start + Array(repeatElement(line, count: room / line.count).joined())
    let last = Array(
      "n: \(String(repeating: "x", count: HTTPConnect.answerLimit - head.count - 7))\r\n\r\n".utf8
    )
    try expect(HTTPConnect(to: name(), nil), head + last + [7], Outcome(isOpen: true, unread: [7]))
    let tooLong = Outcome(failure: .tooLong(limit: 16_384))
    try expect(HTTPConnect(to: name(), nil), head + line + line, tooLong)
    let noEnd = Array("HTTP/1.1 200 ".utf8) + [UInt8](repeating: 0x78, count: 20_000)
    try expect(HTTPConnect(to: name(), nil), noEnd, tooLong)
  }

  // MARK: SOCKS 5

  private let named: [UInt8] = [5, 1, 0, 3, 11] + Array("example.com".utf8) + [1, 0xbb]
  private let bound: [UInt8] = [5, 0, 0, 1, 1, 2, 3, 4, 5, 6]

  @Test func passwordsAreOfferedOnlyWithCredentials() throws {
    #expect(try SOCKS5(to: name(), nil).opening == [5, 1, 0])
    #expect(try SOCKS5(to: name(), Self.alice).opening == [5, 2, 0, 2])
  }

  @Test(arguments: [
    [5, 0, 0, 1, 1, 2, 3, 4, 5, 6], [5, 0, 0, 3, 0, 5, 6], [5, 0, 9, 3, 3, 0x78, 0x79, 0x7a, 5, 6],
    [5, 0, 0, 4] + [UInt8](repeating: 5, count: 18), [5, 0, 0, 3, 255] + [UInt8](repeating: 5, count: 257),
  ])
  func socksOpensATunnel(_ answer: [UInt8]) throws {
    for unread in [[], [5, 0, 0]] as [[UInt8]] {
      let opened = Outcome(said: named, isOpen: true, unread: unread)
      try expect(SOCKS5(to: name(), nil), [5, 0] + answer + unread, opened)
      // A proxy need not ask for credentials.
      try expect(SOCKS5(to: name(), Self.alice), [5, 0] + answer + unread, opened)
    }
  }

  @Test func socksGetsAPasswordOnRequest() throws {
    let said: [UInt8] = [1, 5] + Array("alice".utf8) + [11] + Array("open sesame".utf8)
    let opened = Outcome(said: said + named, isOpen: true, unread: [9])
    try expect(SOCKS5(to: name(), Self.alice), [5, 2, 1, 0] + bound + [9], opened)
    let failed = Outcome(said: said, failure: .refused("1 authentication failed"))
    try expect(SOCKS5(to: name(), Self.alice), [5, 2, 1, 1], failed)
  }

  @Test func socksReceivesAddressesInBinary() throws {
    let four = Outcome(said: [5, 1, 0, 1, 10, 0, 0, 1, 1, 2], isOpen: true)
    try expect(SOCKS5(to: address("10.0.0.1"), nil), [5, 0] + bound, four)
    let six = [5, 1, 0, 4, 0xfd] + [UInt8](repeating: 0, count: 14) + [1, 1, 2]
    try expect(SOCKS5(to: address("fd00::1"), nil), [5, 0] + bound, Outcome(said: six, isOpen: true))
  }

  @Test(arguments: [
    (1, "1 general failure"), (2, "2 not allowed by its rules"), (3, "3 network unreachable"),
    (4, "4 host unreachable"), (5, "5 connection refused"), (6, "6 time to live expired"),
    (7, "7 command not supported"), (8, "8 kind of address not supported"), (9, "9"), (255, "255"),
  ])
  func socksRefuses(_ sample: (result: UInt8, status: String)) throws {
    let refused = Outcome(said: named, failure: .refused(sample.status))
    try expect(SOCKS5(to: name(), nil), [5, 0, 5, sample.result], refused)
    try expect(SOCKS5(to: name(), nil), [5, 0, 5, sample.result, 0, 1, 0, 0, 0, 0, 0, 0], refused)
  }

  @Test func anotherMethodOfAuthenticationIsARefusal() throws {
    let none = Outcome(failure: .refused("it requires authentication"))
    try expect(SOCKS5(to: name(), nil), [5, 255], none)
    let other = Outcome(failure: .refused("it does not accept passwords"))
    try expect(SOCKS5(to: name(), Self.alice), [5, 255], other)
  }

  @Test(arguments: [
    [4], [0], [0x48, 0x54], [5, 1], [5, 3], [5, 2], [5, 0, 4], [5, 0, 5, 0, 0, 2, 0], [5, 0, 5, 0, 0, 0, 0],
  ])
  func inputOtherThanSOCKSIsRejected(_ answer: [UInt8]) throws {
    let said = answer.starts(with: [5, 0]) ? named : []
    try expect(SOCKS5(to: name(), nil), answer, Outcome(said: said, failure: .nonsense))
  }
}
