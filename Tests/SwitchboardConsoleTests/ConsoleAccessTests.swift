import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardConsole
import TestSupport
import Testing

/// Who may see a console. The rows of the threat model name these tests.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsoleAccessTests {
  private static let token = "correct-horse-battery"

  private func console(_ access: ConsoleAccess = .token(token)) throws -> Console {
    var options = ConsoleOptions()
    options.access = access
    options.logger = .quiet
    return try Console(options: options)
  }

  private func status(_ answer: String) -> String {
    String(answer.dropFirst("HTTP/1.1 ".utf8.count).prefix(3))
  }

  @Test(arguments: ["/now", "/connections"])
  func aViewNeedsTheToken(_ path: String) async throws {
    let console = try console()
    let address = try console.serve(port: 0)
    func ask(_ field: String?) throws -> String {
      status(try PageRequest(path, field.map { ["authorization": $0] } ?? [:]).answer(at: address))
    }
    #expect(try ask("Bearer \(Self.token)") == "200")
    #expect(try ask("bearer \(Self.token)") == "200")
    let wrong = [
      nil, "", "Bearer", "Bearer ", Self.token, "Bearer \(Self.token)x", "Bearer \(Self.token.dropLast())",
      "Basic \(Self.token)", "Bearer  \(Self.token)", "Bearer \(Self.token.uppercased())",
    ]
    for field in wrong { #expect(try ask(field) == "401", "\(field ?? "nothing")") }
    // A token in an address is in logs and histories.
    #expect(status(try PageRequest("\(path)?token=\(Self.token)", [:]).answer(at: address)) == "401")
    await console.shutDown()
  }

  /// As many connections as the port allows, none of which has shown a token.
  @Test(arguments: [
    "", "GET /now HTTP/1.1\r\n", "POST /call HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n",
  ])
  func connectionsWithoutATokenShutNobodyOut(_ beginning: String) async throws {
    let console = try console()
    let address = try console.serve(port: 0)
    var peers: [RawPeer] = []
    for _ in 0..<80 {
      let peer = try RawPeer(address)
      peer.send(Array(beginning.utf8))
      peers.append(peer)
    }
    for _ in 0..<3 {
      let answer = try PageRequest("/now", ["authorization": "Bearer \(Self.token)"]).answer(at: address)
      #expect(status(answer) == "200")
    }
    withExtendedLifetime(peers) {}
    await console.shutDown()
  }

  @Test func thePageItselfShowsNothing() async throws {
    let console = try console()
    let address = try console.serve(port: 0)
    var size = 0
    for path in ["/", "/console.js", "/console.css"] {
      let answer = try PageRequest(path, [:]).answer(at: address)
      #expect(status(answer) == "200")
      size += answer.utf8.count
    }
    #expect(size < 200_000, "the page is small enough to be looked at over a slow link")
    // A browser that opens a view gets the page.
    let answer = try PageRequest("/now", ["accept": "text/html,*/*"]).answer(at: address)
    #expect(answer.contains("<!doctype html>"))
    await console.shutDown()
  }

  @Test func theTokenThatTheConsoleMakesIsInItsLink() async throws {
    let console = try console(.madeToken)
    let address = try console.serve(port: 0)
    let link = console.link(to: address)
    #expect(link.hasPrefix("http://127.0.0.1:\(address.port)/#token="))
    let token = try #require(link.split(separator: "=").last)
    #expect(token.utf8.count == 32)
    let answer = try PageRequest("/now", ["authorization": "Bearer \(token)"]).answer(at: address)
    #expect(status(answer) == "200")
    let other = try self.console(.madeToken)
    #expect(other.link(to: address) != link)
    await console.shutDown()
    await other.shutDown()
  }

  /// What answers nothing to strangers says nothing of what there is either, by any method.
  @Test(arguments: ["OPTIONS", "PUT", "DELETE", "HEAD", "TRACE", "POST"])
  func otherMethodsShowNothing(_ method: String) async throws {
    let console = try console()
    let address = try console.serve(port: 0)
    for path in ["/now", "/drain", "/session", "/profile"] {
      let peer = try RawPeer(address)
      let fields =
        "origin: http://evil.example\r\naccess-control-request-method: POST\r\ncontent-length: 0\r\n"
      peer.send(
        Array("\(method) \(path) HTTP/1.1\r\nhost: localhost\r\n\(fields)connection: close\r\n\r\n".utf8)
      )
      let answer = String(decoding: peer.read(1 << 20), as: UTF8.self)
      #expect(status(answer).hasPrefix("4"), "\(method) \(path): \(answer.prefix(200))")
      #expect(!answer.lowercased().contains("access-control-allow"))
    }
    await console.shutDown()
  }

  @Test func theProgramMayDecide() async throws {
    let console = try console(.requests { $0.headers["x-user"].first == "admin" })
    let address = try console.serve(port: 0)
    #expect(console.link(to: address) == "http://127.0.0.1:\(address.port)/")
    #expect(status(try PageRequest("/now", ["x-user": "admin"]).answer(at: address)) == "200")
    #expect(status(try PageRequest("/now", ["x-user": "other"]).answer(at: address)) == "403")
    await console.shutDown()
  }

  @Test(arguments: [
    ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
    ["sec-fetch-site": "same-origin", "Sec-Fetch-Site": "cross-site"], ["origin": "http://evil.example"],
    ["origin": "null"],
  ])
  func otherSitesGetNothing(_ fields: [String: String]) async throws {
    let console = try console(.requests { _ in true })
    let address = try console.serve(port: 0)
    #expect(status(try PageRequest("/now", fields).answer(at: address)) == "403")
    #expect(status(try PageRequest("/now", ["sec-fetch-site": "same-origin"]).answer(at: address)) == "200")
    await console.shutDown()
  }

  @Test(arguments: [
    "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80", "localhost.",
    "127.0.0.1@evil.example", "localhost@evil.example:80", "[::1", "[::1]evil.example", "0.0.0.0", "",
  ])
  func anotherNameForThisMachineGetsNothing(_ host: String) async throws {
    let console = try console(.requests { _ in true })
    let address = try console.serve(port: 0)
    for path in ["/", "/now"] {
      let answer = status(try PageRequest(path, [:], host: host).answer(at: address))
      // What is no name at all is refused before.
      #expect(answer == "421" || answer == "400")
    }
    await console.shutDown()
  }

  @Test(arguments: ["/", "/console.js", "/now", "/connections"])
  func noOtherSiteFramesOrExtendsThePage(_ path: String) async throws {
    let console = try console()
    let address = try console.serve(port: 0)
    let answer = try PageRequest(path, ["authorization": "Bearer \(Self.token)"]).answer(at: address)
    for field in [
      "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-frame-options: DENY", "x-content-type-options: nosniff", "referrer-policy: no-referrer",
      "cross-origin-resource-policy: same-origin", "cache-control: no-store",
    ] {
      #expect(answer.contains("\r\n\(field)\r\n"), "\(field) in \(answer.prefix(900))")
    }
    await console.shutDown()
  }

  @Test(arguments: ["", "short", "has a space in it", "fünfzehn-zeichen-und-mehr", "has\nline-break-in-it"])
  func aTokenThatIsNone(_ token: String) {
    let failure = #expect(throws: GRPCStatus.self) { try console(.token(token)) }
    #expect(
      failure?.message
        == "ConsoleOptions.access: a token has at least 16 characters, which are letters, digits and -._~+/= only"
    )
  }
}
