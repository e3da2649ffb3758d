import Foundation
import Switchboard
import TestSupport
import Testing

@testable import SwitchboardCommand

/// `mock` and HTTP clients: it answers by Connect and gRPC-Web too, over HTTP/1.1.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MockProtocolTests {
  private let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path

  private func serving(_ flags: String..., body: (String) throws -> Void) throws {
    let words = ["mock", proto, "-q", "--listen", "127.0.0.1:0"] + flags
    let mock = try ChildProcess(Command.path(ofProduct: "switchboard"), words)
    let port = try #require(mock.line()?.split(separator: ":").last)
    try body("127.0.0.1:\(port)")
    mock.end(with: SIGTERM)
  }

  /// What curl prints over HTTP/1.1: the head in lower case, and the body.
  private func curl(_ arguments: String...) throws -> (head: String, body: String) {
    let run = try Command.run("curl", ["-s", "-i", "--http1.1", "--max-time", "60"] + arguments)
    let text = String(decoding: run.output.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts[0].lowercased() + "\n", parts.count > 1 ? String(parts[1]) : "")
  }

  private static let json = "content-type: application/json"

  @Test func answersJSONByConnect() throws {
    try serving { address in
      let got = try curl("-H", Self.json, "-d", #"{"text":"x"}"#, "http://\(address)/echo.Echo/Get")
      #expect(got.head.hasPrefix("http/1.1 200"))
      #expect(got.body == #"{"text":"text"}"#)
      let wrong = try curl("-H", Self.json, "-d", #"{"txet":"x"}"#, "http://\(address)/echo.Echo/Get")
      #expect(wrong.head.hasPrefix("http/1.1 400") && wrong.body.contains("txet"), "\(wrong)")
    }
  }

  /// Of a page whose name leads to this machine, a browser takes the mock for the page's own server.
  @Test func aForeignHostIsRefused() throws {
    try serving { address in
      let url = "http://\(address)/echo.Echo/Get"
      let got = try curl("-H", "host: evil.example:50051", "-H", Self.json, "-d", #"{"text":"x"}"#, url)
      #expect(!got.head.hasPrefix("http/1.1 200") && !got.body.contains("text\":"), "\(got)")
    }
  }

  @Test(arguments: ["rules: []", "rules:\n  - {method: '*', status: ABORTED}"])
  func anEmptyListOfRulesIsWarnedOf(_ text: String) throws {
    let rules = NSTemporaryDirectory() + "rules-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: rules) }
    try Data(text.utf8).write(to: URL(fileURLWithPath: rules))
    // It does not get to serve.
    let run = try Command.product(
      "switchboard",
      ["mock", proto, "--rules", rules, "--listen", "no.example:1"]
    )
    let warning = "switchboard: warning: \(rules) has no rule, so that no call is answered by one\n"
    #expect(run.exitCode == 64 && run.errors.hasPrefix(warning) == text.hasSuffix("[]"), "\(run.errors)")
  }

  @Test func rulesApplyToAllProtocols() throws {
    let rules = NSTemporaryDirectory() + "rules-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: rules) }
    let text = """
      rules:
        - {method: echo.Echo/Get, match: {text: one}, answer: {text: first}}
        - {method: echo.Echo/Get, match: {text: two}, status: {code: NOT_FOUND, message: gone}}
        - {method: echo.Echo/Expand, stream: [{text: a}, {text: b}]}
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: rules))
    try serving("--rules", rules) { address in
      let url = "http://\(address)/echo.Echo/Get"
      #expect(try curl("-H", Self.json, "-d", #"{"text":"one"}"#, url).body == #"{"text":"first"}"#)
      let gone = try curl("-H", Self.json, "-d", #"{"text":"two"}"#, url)
      #expect(gone.head.hasPrefix("http/1.1 404"))
      #expect(gone.body.contains("not_found") && gone.body.contains("gone"))
      for flags in [["connect", "--http1"], ["grpc-web", "--http1"], ["connect"], ["grpc-web"], ["grpc"]] {
        let call = try Command.product(
          "switchboard",
          ["call", address, "echo.Echo/Expand", "-d", "{}", "--protocol"] + flags
        )
        let output = String(decoding: call.output, as: UTF8.self)
        #expect(output == "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", "\(flags): \(call.errors)")
      }
    }
  }

  /// A page could otherwise read what a mock, or the server behind it, answers to whoever runs it.
  @Test func pagesNeedPermission() throws {
    let origin = "http://localhost:5173"
    func ask(_ address: String) throws -> String {
      let url = "http://\(address)/echo.Echo/Get"
      return try curl("-H", Self.json, "-H", "origin: \(origin)", "-d", "{}", url).head
    }
    try serving { address in
      let head = try ask(address)
      #expect(head.hasPrefix("http/1.1 403"))
    }
    try serving("--origin", origin) { address in
      let head = try ask(address)
      #expect(head.hasPrefix("http/1.1 200"))
      #expect(head.contains("access-control-allow-origin: \(origin)\n"), "\(head)")
    }
    try serving("--origin", "any") { address in
      let head = try ask(address)
      #expect(head.hasPrefix("http/1.1 200"))
    }
    let wrong = try Run("mock", proto, "--origin", "localhost:5173", "--listen", "127.0.0.1:0")
    #expect(wrong.exitCode == 64)
    #expect(wrong.errors.contains("is not an origin as browsers write it"))
  }

  /// A user of the command has flags, not options.
  @Test func whatItLogsNamesNoOptions() throws {
    let words = ["mock", proto, "--listen", "127.0.0.1:0", "--origin", "null"]
    let log = try temporaryFile([], suffix: "log")
    let descriptor = open(log, O_WRONLY)
    defer { close(descriptor) }
    let mock = try ChildProcess(
      Command.path(ofProduct: "switchboard"),
      words,
      errors: .descriptor(descriptor)
    )
    let address = "127.0.0.1:\(try #require(mock.line()?.split(separator: ":").last))"
    let call = ["call", address, "echo.Echo/Get", "--proto", proto]
    #expect(try Command.product("switchboard", call + ["--tls"]).exitCode == 14)
    mock.send(SIGTERM)
    #expect(mock.exitCode() == 0)
    let lines = try String(contentsOfFile: log, encoding: .utf8)
    #expect(lines.contains("TLS: the client speaks TLS, and this port does not\n"), "\(lines)")
    #expect(lines.contains("switchboard: warning: --origin null: "), "\(lines)")
    #expect(!lines.contains("Options"), "\(lines)")
  }

  /// A warning about a handler that blocks its loop is for whoever has written the handler.
  @Test func itsLoopsAreNotWatched() throws {
    let arguments = try #require(try Arguments([proto], for: MockVerb.verb))
    let server = try MockVerb.makeServer([], at: "127.0.0.1", arguments)
    #expect(server.configuration.options.blockedLoopLimit == nil)
  }

  @Test(arguments: [
    ("a (ServerOptions.tls is not set) b", "a b"), ("a (b) c", "a (b) c"),
    ("a(ServerOptions.web", "a(ServerOptions.web"),
    ("(x (ChannelOptions.security = .tls()) y)", ""), ("a) (b (c)) (ServerOptions.a)", "a) (b (c))"),
    ("ServerOptions.web lets it", "ServerOptions.web lets it"), ("", ""),
  ])
  func remarksOnOptionsAreLeftOut(_ text: String, _ rest: String) {
    #expect(text.withoutOptions() == rest)
  }
}
