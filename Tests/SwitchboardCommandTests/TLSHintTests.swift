import CertificateSupport
import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

@testable import SwitchboardCommand

/// One side speaks TLS, and the other does not: the error names the flag, in every verb.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TLSHintTests {
  private struct Echo: EchoingProvider {}

  private static let proto = ["--proto", TestFolders.root.appending(path: "Protos/echo/echo.proto").path]
  /// The verbs that call a server, with what follows TARGET.
  private static let verbs: [String: [String]] = [
    "list": [], "describe": [], "openapi": [], "health": [], "channelz": [], "console": [], "xds": [],
    "call": ["echo.Echo/Get"] + proto,
    "load": ["echo.Echo/Get", "-n", "2"] + proto, "mock": [],
  ]

  private func serving(withTLS: Bool, _ body: (String) throws -> Void) async throws {
    let files = try CertificateFiles()
    var options = ServerOptions()
    options.web = WebOptions()
    if withTLS {
      options.tls = ServerTLS(
        credentials: TLSCredentials(
          certificateChain: .file(files.serverCertificate),
          privateKey: .file(files.serverKey)
        )
      )
    }
    try await withServer([Echo()], options: options) { _, address async throws in
      try body("\(address)")
    }
  }

  private func line(_ verb: String, _ target: String, _ rest: [String]) -> [String] {
    guard verb == "mock" else { return [verb, target] + rest }
    return ["mock", "--record", target, "--output", NSTemporaryDirectory() + UUID().uuidString]
  }

  @Test(arguments: [true, false]) func everyVerbNamesTheFlag(_ hasTLS: Bool) async throws {
    let ofServers = SwitchboardCommand.verbs.filter { $0.allFlags.contains(TargetFlags.tls) }.map(\.name)
    #expect(Set(ofServers) == Set(Self.verbs.keys))
    let hint = hasTLS ? "\n'--tls' connects with TLS.\n" : "\n'--plaintext' connects without TLS.\n"
    try await serving(withTLS: hasTLS) { target in
      for (verb, rest) in Self.verbs {
        let words = line(verb, target, rest) + (hasTLS ? [] : ["--tls"])
        let run = try Command.product("switchboard", words)
        #expect(run.exitCode == 14 && run.errors.hasSuffix(hint), "\(words): \(run.errors)")
        #expect(!run.errors.contains("ChannelOptions"), "\(run.errors)")
        #expect(run.errors.count { $0 == "(" } == run.errors.count { $0 == ")" }, "\(run.errors)")
      }
      for flags in [
        ["--protocol", "connect"], ["--protocol", "connect", "--http1"], ["--protocol", "grpc-web"],
      ] {
        let words = ["call", target, "echo.Echo/Get"] + Self.proto + flags + (hasTLS ? [] : ["--tls"])
        let run = try Command.product("switchboard", words)
        #expect(run.exitCode == 14 && run.errors.hasSuffix(hint), "\(words): \(run.errors)")
      }
    }
  }

  /// A server that refuses it does not say why.
  @Test func anExpiredCertificateIsWarnedOf() throws {
    let files = try CertificateFiles()
    let flags = ["--cert", files.expiredCertificate, "--key", files.expiredKey]
    for (verb, rest) in Self.verbs {
      // Each loop of 'load' has channels of its own.
      let words = line(verb, "127.0.0.1:1", rest) + flags + (verb == "load" ? ["--loops", "2"] : [])
      let run = try Command.product("switchboard", words)
      #expect(run.exitCode == 14, "\(words): \(run.errors)")
      let warning = "switchboard: warning: --cert: the certificate has expired, "
      #expect(
        run.errors.hasPrefix(warning) && run.errors.contains(" 2021 GMT: peers will refuse it\n"),
        "\(words): \(run.errors)"
      )
      #expect(run.errors.split(separator: "has expired").count == 2, "\(run.errors)")
    }
    let valid = ["--cert", files.clientCertificate, "--key", files.clientKey]
    #expect(
      !(try Command.product("switchboard", ["list", "127.0.0.1:1"] + valid).errors.contains("warning"))
    )
    let agent = try Run(
      "load-agent",
      "--tls-cert",
      files.expiredCertificate,
      "--tls-key",
      files.expiredKey,
      "--listen",
      "a.b:1"
    )
    #expect(agent.errors.hasPrefix("switchboard: warning: --tls-cert: the certificate has expired, "))
  }

  /// What asked for TLS has to go, too.
  @Test func whatAskedForTLSIsNamed() async throws {
    try await serving(withTLS: false) { target in
      for (words, place) in [
        (["call", target, "echo.Echo/Get", "--server-name", "x"], "--server-name"),
        (["call", "https://" + target, "echo.Echo/Get"], "https://"),
      ] {
        let run = try Command.product("switchboard", words + Self.proto)
        let hint = "\n'--plaintext' connects without TLS, in place of \(place).\n"
        #expect(run.exitCode == 14 && run.errors.hasSuffix(hint), "\(run.errors)")
      }
    }
  }

  /// A call that waits for its server ends with its deadline.
  @Test func aDeadlineNamesTheFlagToo() async throws {
    try await serving(withTLS: false) { target in
      let words = ["call", target, "echo.Echo/Get", "--tls", "--wait-for-ready", "-t", "1s"]
      let run = try Command.product("switchboard", words + Self.proto)
      #expect(run.exitCode == 4, "\(run.errors)")
      #expect(run.errors.hasSuffix("\n'--plaintext' connects without TLS.\n"), "\(run.errors)")
    }
  }

  @Test func agentsHaveAFlagOfTheirOwn() async throws {
    let files = try CertificateFiles()
    let load = ["load", "127.0.0.1:1", "echo.Echo/Get", "-n", "2", "--agent-token", "x"] + Self.proto
    try await serving(withTLS: true) { agent in
      let run = try Command.product("switchboard", load + ["--agents", agent])
      #expect(
        run.errors.hasSuffix("\n'--agent-cacert FILE' connects to the agents with TLS.\n"),
        "\(run.errors)"
      )
      #expect(!run.errors.contains("ChannelOptions"))
    }
    try await serving(withTLS: false) { agent in
      let words = load + ["--agents", agent, "--agent-cacert", files.serverCertificate]
      let run = try Command.product("switchboard", words)
      #expect(run.errors.hasSuffix("\nWithout '--agent-cacert', connections to agents have no TLS.\n"))
    }
  }

  /// The agent is reached, but does not reach the server.
  @Test func anAgentsServerIsNotTakenForTheAgent() async throws {
    let program = Command.path(ofProduct: "switchboard")
    let agent = try ChildProcess(program, ["load-agent", "--token", "x"])
    let line = try #require(agent.line())
    let address = String(try #require(line.split(separator: " ").last))
    try await serving(withTLS: false) { target in
      let words = [
        "load", target, "echo.Echo/Get", "-n", "2", "--tls", "--agents", address, "--agent-token", "x",
      ]
      let run = try Command.product("switchboard", words + Self.proto)
      #expect(run.errors.contains("the agent \(address): calling \(target): "), "\(run.errors)")
      #expect(run.errors.hasSuffix("\n'--plaintext' connects without TLS.\n"), "\(run.errors)")
    }
    agent.end(with: SIGTERM)
  }
}
