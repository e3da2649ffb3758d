import CallTestSupport
import ConsoleMessages
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardConsole
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardTransport
import TestSupport
import Testing

/// What a console does for those who may have it done.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsoleActionTests {
  private static let token = "correct-horse-battery"
  private static let json = ["authorization": "Bearer \(token)", "content-type": "application/json"]
  private struct Echo: EchoingProvider {}

  private let log = LogEntries()

  private func console(_ permissions: ConsolePermissions) throws -> Console {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.permissions = permissions
    options.logger = Logger(log, minimumLevel: .info)
    return try Console(options: options)
  }

  private func status(_ request: PageRequest, _ address: SocketAddress) throws -> String {
    String(try request.answer(at: address).dropFirst("HTTP/1.1 ".utf8.count).prefix(3))
  }

  /// Runs `body` with a server that a console shows, and asks it to drain the server.
  private func withDrain(
    _ permissions: ConsolePermissions,
    _ body: (Server, (_ fields: [String: String], _ body: String) throws -> String) async throws -> Void
  ) async throws {
    try await withPair([Echo()]) { pair async throws in
      let console = try console(permissions)
      console.add(pair.server, name: "shop")
      let address = try console.serve(port: 0)
      try await body(pair.server) { try status(PageRequest("/drain", $0, body: $1), address) }
      await console.shutDown()
    }
  }

  private func isDraining(_ server: Server) async -> Bool { await server.snapshot().isDraining }

  @Test func aServerIsDrainedByThoseWhoMay() async throws {
    try await withDrain(.everyone([.drain])) { server, drain async throws in
      #expect(try drain(Self.json, #"{"server": "server-1", "graceSeconds": 30}"#) == "200")
      while !Task.isCancelled, !(await isDraining(server)) { await Task.yield() }
      #expect(log.all.contains { $0.message == "the console does what a viewer asked for: drain server-1" })
    }
  }

  /// Also one that is decoded on another thread, because it is large.
  @Test func theLogHasLittleOfARequest() async throws {
    try await withDrain(.everyone([.drain])) { _, drain async throws in
      let name = String(repeating: "x", count: 50_000)
      #expect(try drain(Self.json, #"{"server": "\#(name)"}"#) == "404")
      #expect(log.all.contains { $0.message.contains("drain xxx") })
      #expect(log.all.allSatisfy { $0.message.utf8.count < 500 })
    }
  }

  /// What a request has in its place is in the log as a text of one line, wherever it is quoted.
  @Test(arguments: [
    ("/drain", #"{"server": "NAME"}"#), ("/log-level", #"{"ids": ["NAME"], "level": "NAME"}"#),
    ("/sampling", #"{"method": "NAME/NAME", "share": 1, "minutes": 1}"#),
    ("/try", #"{"target": "NAME", "method": "NAME"}"#),
    ("/try", #"{"target": "server-1", "method": "NAME", "requests": ["NAME"]}"#),
    (
      "/try",
      #"{"target": "server-1", "method": "grpc.health.v1.Health/Check", "requests": ["{\"NAME\": 1}"]}"#
    ),
    (
      "/try",
      #"{"target": "server-1", "method": "grpc.health.v1.Health/Check", "headers": [{"name": "NAME", "value": "NAME"}]}"#
    ),
  ])
  func hostileTextsAreNoLinesOfTheLog(_ path: String, _ body: String) async throws {
    try await withPair([HealthService()]) { pair async throws in
      let console = try console(.everyone(Set(ConsolePermission.allCases)))
      console.add(pair.server, name: "shop")
      let address = try console.serve(port: 0)
      // As they are in JSON, and in JSON within that: the beginning of another line, and a sequence for terminals.
      let names = [
        #"x\n\u001b[2Jerror: forged"#, #"x\\n\\u001b[2Jerror: forged"#, "\u{2028}\u{202e}y",
        String(repeating: "z", count: 5000),
      ]
      for name in names {
        let body = body.split(separator: "NAME", omittingEmptySubsequences: false).joined(separator: name)
        _ = try status(PageRequest(path, Self.json, body: body), address)
      }
      await console.shutDown()
      let entries = log.all.filter { $0.message.contains("a viewer asked for") }
      #expect(entries.count == names.count)
      for entry in entries {
        for text in [entry.message] + entry.metadata.values {
          #expect(
            text.unicodeScalars.allSatisfy { $0.value >= 0x20 && ![0x2028, 0x202e].contains($0.value) }
          )
          #expect(text.utf8.count < 1000, "\(text.prefix(200))")
        }
      }
    }
  }

  @Test func whatIsNotDoneIsLoggedAsRefused() async throws {
    try await withDrain(.everyone([.drain])) { _, drain async throws in
      #expect(try drain(Self.json, #"{"server": "server-99"}"#) == "404")
      let entries = log.all.filter { $0.message.contains("a viewer asked for") }
      #expect(entries.map(\.message) == ["the console refuses what a viewer asked for: drain server-99"])
      #expect(entries.first?.metadata["reason"] == "the console shows no server with this ID")
    }
  }

  @Test func byDefaultAConsoleOnlyShows() async throws {
    try await withDrain(.everyone([])) { server, drain async throws in
      #expect(try drain(Self.json, #"{"server": "server-1"}"#) == "403")
      #expect(!(await isDraining(server)))
    }
  }

  @Test func theProgramMayDecideOnEach() async throws {
    let isOperator = ConsolePermissions.requests { request, permission in
      permission == .drain && request.headers["x-user"] == ["operator"]
    }
    try await withDrain(isOperator) { server, drain async throws in
      let body = #"{"server": "server-1"}"#
      #expect(try drain(Self.json, body) == "403")
      #expect(try drain(Self.json.merging(["x-user": "operator"]) { $1 }, body) == "200")
    }
  }

  @Test(arguments: [
    ("401", ["content-type": "application/json"]),
    ("415", ["authorization": "Bearer \(token)", "content-type": "text/plain"]),
    ("415", ["authorization": "Bearer \(token)"]),
    ("403", json.merging(["origin": "http://evil.example"]) { $1 }),
    ("403", json.merging(["origin": "http://evil.example", "sec-fetch-site": "cross-site"]) { $1 }),
    ("403", json.merging(["origin": "http://evil.example", "sec-fetch-site": "none"]) { $1 }),
  ])
  func otherSitesAndStrangersDoNothing(_ expected: String, _ fields: [String: String]) async throws {
    try await withDrain(.everyone([.drain])) { server, drain async throws in
      #expect(try drain(fields, #"{"server": "server-1"}"#) == expected)
      #expect(!(await isDraining(server)))
    }
  }

  @Test(arguments: [
    ("404", #"{"server": "server-2"}"#), ("404", #"{"server": "channel-1"}"#), ("404", "{}"),
    ("400", #"{"server": "server-1", "graceSeconds": -1}"#),
    ("400", #"{"server": "server-1", "graceSeconds": "NaN"}"#),
    ("400", #"{"server": "server-1", "grace": 1}"#), ("400", "{"), ("400", ""),
  ])
  func whatCannotBeMeant(_ expected: String, _ body: String) async throws {
    try await withDrain(.everyone([.drain])) { server, drain async throws in
      #expect(try drain(Self.json, body) == expected)
      #expect(!(await isDraining(server)))
    }
  }

  @Test func thePageOfTheConsoleItselfMay() async throws {
    try await withDrain(.everyone([.drain])) { server, drain async throws in
      let own = ["origin": "http://localhost", "sec-fetch-site": "same-origin"]
      #expect(try drain(Self.json.merging(own) { $1 }, #"{"server": "server-1"}"#) == "200")
    }
  }

  @Test func aViewerIsToldWhatItMay() async throws {
    let console = try console(.everyone([.drain]))
    let address = try console.serve(port: 0)
    let answer = try PageRequest("/session", Self.json).answer(at: address)
    let text = answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
    #expect(try Switchboard_Console_V1_Session(jsonString: text).permissions == ["drain"])
    #expect(try status(PageRequest("/session", [:]), address) == "401")
    await console.shutDown()
  }
}
