import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Tokens: out of the list of processes, and not shown.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SecretsTests {
  private struct Echo: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.setInitialMetadata(["set-cookie": "session=5678", "served-by": "echo"])
      return .with { $0.text = context.headers.first(name: "authorization") ?? "nobody" }
    }
  }

  private static func with(_ text: String, _ body: (String) async throws -> Void) async throws {
    let path = NSTemporaryDirectory() + "secret-\(UUID().uuidString)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await body(path)
  }

  @Test func headersComeFromAFile() async throws {
    try await Self.with("authorization: Bearer 1234\r\n\ntenant:x\nraw-bin: AQI=\n") { path in
      let headers = try HPACKHeaders(arguments: ["first: 1", "@" + path])
      #expect(headers.map(\.name) == ["first", "authorization", "tenant", "raw-bin"])
      #expect(headers.first(name: "authorization") == "Bearer 1234")
      #expect(headers[binary: "raw-bin"] == [[1, 2]])
    }
    let error = #expect(throws: Failure.self) { try HPACKHeaders(arguments: ["@/nowhere"]) }
    #expect(error?.code == .noInput)
  }

  /// A mistake in a header says what is wrong, and not what the secret is.
  @Test(arguments: ["authorization:", "Authorization: "]) func anEmptyTokenIsNoToken(_ header: String) throws
  {
    let error = try #require(throws: Failure.self) { try HPACKHeaders(arguments: [header]) }
    #expect(error.message.text.contains("is a variable in it not set?"))
    #expect(try HPACKHeaders(arguments: ["other:"])["other"] == [""])
  }

  @Test(arguments: [
    "authorization Bearer 1234", "key-bin: 1234*", "token: 1234\u{1}", "to ken: 1234", "Bearer 1234:5678",
  ])
  func mistakesDoNotRepeatTheValue(_ header: String) async throws {
    let error = try #require(throws: Failure.self) { try HPACKHeaders(arguments: [header]) }
    #expect(!error.message.text.contains("1234"), "\(error.message.text)")
    try await Self.with(header + "\n") { path in
      let error = try #require(throws: Failure.self) { try HPACKHeaders(arguments: ["@" + path]) }
      #expect(!error.message.text.contains("1234"), "\(error.message.text)")
    }
  }

  /// What the protocol sends itself would be left out, though `-v` shows what is sent.
  @Test(
    arguments: [
      ("Host: a", ["Use --authority instead."]), ("user-agent: a", ["Use --user-agent instead."]),
      ("grpc-timeout: 1S", ["Use --deadline instead."]), ("grpc-encoding: gzip", ["Use --compress instead."]),
      (":authority: a", ["Use --authority instead."]), (":path: a", []), ("te: a", []),
      ("content-type: a", []), ("grpc-status-details-bin: AA", []),
    ] as [(String, [ShownText])]
  ) func headersOfTheProtocolAreRefused(_ header: String, _ hints: [ShownText]) async throws {
    let name = (header.prefix(1) + header.dropFirst().prefix { $0 != ":" }).lowercased()
    let error = try #require(throws: Failure.self) { try HPACKHeaders(arguments: [header]) }
    #expect(error.message.text == "--header sets '\(name)', which the protocol itself sends")
    #expect(error.hints == hints && error.code == .usage)
    try await Self.with(header + "\n") { path in
      let error = try #require(throws: Failure.self) { try HPACKHeaders(arguments: ["@" + path]) }
      #expect(error.message.text.hasPrefix("a line of \(path) sets") && error.hints == hints)
    }
  }

  @Test func aFileWithoutHeadersIsRefused() async throws {
    try await Self.with("\n") { path in
      let error = try #require(throws: Failure.self) { try HPACKHeaders(arguments: ["a: b", "@" + path]) }
      #expect(error.message.text == "\(path) has no line for --header" && error.code == .data)
    }
  }

  /// HTTP has no blanks around a value.
  @Test func blanksAroundAValueAreNoneOfIt() throws {
    let headers = try HPACKHeaders(arguments: ["a:  b c \t ", "d:\te", "f: ", "g-bin: AQI= "])
    #expect(headers.first(name: "a") == "b c" && headers.first(name: "d") == "e")
    #expect(headers.first(name: "f") == "" && Array(headers[binary: "g-bin"]) == [[1, 2]])
  }

  @Test func verboseCallsHideThem() async throws {
    try await withServer([Echo()]) { _, address async throws in
      let target = "\(address)"
      let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
      try await Self.with("Authorization: Bearer 1234\ntenant: x\n") { path in
        let call = try Run("call", target, "echo.Echo/Get", "--proto", proto, "-H", "@" + path, "-v")
        #expect(call.output == "{\"text\":\"Bearer 1234\"}\n")
        #expect(call.errors.contains("> authorization: (hidden)\n> tenant: x\n"), "\(call.errors)")
        #expect(call.errors.contains("< set-cookie: (hidden)\n"), "\(call.errors)")
        #expect(call.errors.contains("< served-by: echo\n"))
        #expect(!call.errors.contains("1234") && !call.errors.contains("5678"))
      }
    }
  }

  @Test func agentsTakeTheirTokenFromAFile() async throws {
    try await Self.with("s3cret\n") { path in
      let agent = try ChildProcess(
        Command.path(ofProduct: "switchboard"),
        ["load-agent", "--token", "@" + path]
      )
      let line = try #require(agent.line())
      #expect(line.hasPrefix("listening on ") && !line.contains("token"), "\(line)")
      let agents = String(try #require(line.split(separator: " ").last))
      try await withServer([Echo()]) { _, address async throws in
        let target = "\(address)"
        let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
        for (token, code) in [("@" + path, 0), ("s3cret", 0), ("other", 16), ("@/nowhere", 66)]
          as [(String, Int32)]
        {
          let run = try Run(
            "load",
            target,
            "echo.Echo/Get",
            "--proto",
            proto,
            "-n",
            "5",
            "--agents",
            agents,
            "--agent-token",
            token
          )
          #expect(run.exitCode == code, "\(run.errors)")
        }
      }
      agent.end(with: SIGTERM)
    }
    try await Self.with("\n") { path in
      let empty = try Run("load-agent", "--token", "@" + path)
      #expect(empty.exitCode == 65)
    }
  }
}
