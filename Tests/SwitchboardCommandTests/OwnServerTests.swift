import CertificateSupport
import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// The command against servers of this library, which have reflection v1 and channelz.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OwnServerTests {
  private struct Echo: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      // The first attempt of a call that may be repeated fails.
      if request.text == "flaky", context.headers.first(name: "grpc-previous-rpc-attempts") == nil {
        throw GRPCStatus(code: .unavailable, message: "not yet")
      }
      if request.text == "hangs", context.headers.first(name: "grpc-previous-rpc-attempts") == nil {
        try await Task.sleep(for: .seconds(3600))
      }
      return .with { $0.text = "\(request.text) for \(context.headers.first(name: "tenant") ?? "nobody")" }
    }
  }

  private func serving(_ body: (String) throws -> Void) async throws {
    let channelz = ChannelzService()
    let services: [any CallHandlerProvider] = [Echo(), HealthService(), channelz]
    try await withServer(services + [try ReflectionService(describing: services)]) {
      server,
      address async throws in
      channelz.add(server, name: "echo")
      try body("\(address)")
    }
  }

  @Test func describesAndCallsMethods() async throws {
    try await serving { target in
      let list = try Run("list", target)
      #expect(list.output.contains("echo.Echo\n"), "\(list.errors)")
      #expect(
        try Run("describe", target, "echo.Echo/Get").output.hasPrefix(
          "rpc Get(EchoRequest) returns (EchoResponse);"
        )
      )
      #expect(try Run("describe", target).output.hasPrefix("package echo;\n\nservice Echo {"))
      #expect(
        try Run("call", target, "echo.Echo/Expand", "-d", #"{"text": "a b"}"#).output
          == "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"
      )
      #expect(
        try Run("call", target, "echo.Echo/Collect", input: #"{"text":"a"} {"text":"b"}"#).output
          == "{\"text\":\"a b\"}\n"
      )
      #expect(
        try Run("call", "http://\(target)/", "echo.Echo/Get", "-H", "tenant:x").output
          == "{\"text\":\" for x\"}\n"
      )
      #expect(try Run("health", target).output == "SERVING\n")
    }
  }

  /// A config for all methods is not for the calls by which the command gets descriptors.
  @Test func aServiceConfigIsForTheCallAlone() async throws {
    try await serving { target in
      let config = #"{"methodConfig": [{"name": [{}], "timeout": "0.000000001s"}]}"#
      let call = try Run("call", target, "echo.Echo/Get", "--verbose", "--service-config", config)
      #expect(call.exitCode == 4, "\(call.errors)")
      #expect(call.errors.contains("by reflection"), "\(call.errors)")
    }
  }

  @Test(arguments: [["grpc-web"], ["connect"], ["grpc-web", "--http1"], ["connect", "--http1"]])
  func callsByOtherProtocols(_ flags: [String]) async throws {
    var options = ServerOptions()
    options.web = WebOptions()
    let services: [any CallHandlerProvider] = [Echo()]
    try await withServer(services + [try ReflectionService(describing: services)], options: options) {
      _,
      address async throws in
      let target = "\(address)"
      let protocols = ["--protocol"] + flags
      for (method, data, output) in [
        ("Get", #"{"text": "a"}"#, "{\"text\":\"a for nobody\"}\n"),
        ("Expand", #"{"text": "a b"}"#, "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"),
      ] {
        let run = try Command.product(
          "switchboard",
          ["call", target, "echo.Echo/\(method)", "-d", data] + protocols
        )
        #expect(String(decoding: run.output, as: UTF8.self) == output, "\(flags): \(run.errors)")
      }
      #expect(try Run("list", target, "--http1").exitCode == 64)
      #expect(try Run("list", target, "--protocol", "soap").exitCode == 64)
    }
  }

  @Test func retriesCallsAsTheServiceConfigSays() async throws {
    try await serving { target in
      let plain = try Run("call", target, "echo.Echo/Get", "-d", #"{"text": "flaky"}"#)
      #expect(plain.exitCode == 14)
      let config = """
        {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.1s",
        "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
        """
      let again = try Run(
        "call",
        target,
        "echo.Echo/Get",
        "-d",
        #"{"text": "flaky"}"#,
        "--service-config",
        config,
        "-v"
      )
      #expect(again.output == "{\"text\":\"flaky for nobody\"}\n", "\(again.errors)")
      let attempts = again.errors.split(separator: "\n").filter { $0.contains("attempt") }
      #expect(attempts.count == 2, "\(again.errors)")
      #expect(attempts.first == "< OK (after 2 attempts)")
      #expect(attempts.last?.hasPrefix("* attempt 2 ") == true)
      #expect(attempts.last?.hasSuffix("after UNAVAILABLE: not yet") == true)
      let once = try Run("call", target, "echo.Echo/Get", "--service-config", config, "-v")
      #expect(!once.errors.contains("attempt"), "\(once.errors)")
      #expect(try Run("call", target, "echo.Echo/Get", "--service-config", "{").exitCode == 65)
    }
  }

  @Test func hedgedAttemptsAreShown() async throws {
    try await serving { target in
      let config = """
        {"methodConfig": [{"name": [{}], "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "0.01s"}}]}
        """
      let words = ["call", target, "echo.Echo/Get", "-d", #"{"text": "hangs"}"#]
      let call = try Command.product("switchboard", words + ["--service-config", config, "-v"])
      #expect(call.exitCode == 0 && call.errors.contains("* attempt 2 "), "\(call.errors)")
      #expect(call.errors.contains("hedging: attempt 1 has not ended"))
      #expect(call.errors.contains("(after 2 attempts)"))
    }
  }

  @Test func loadRepeatsCallsAsTheServiceConfigSays() async throws {
    try await serving { target in
      let config = """
        {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.1s",
        "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
        """
      let words = ["load", target, "echo.Echo/Get", "-d", #"{"text": "flaky"}"#, "-n", "10", "-c", "2"]
      let plain = try Command.product("switchboard", words)
      #expect(plain.exitCode == 14)
      let repeated = try Command.product("switchboard", words + ["--service-config", config])
      #expect(repeated.exitCode == 0, "\(repeated.errors)")
      let wrong = try Command.product("switchboard", words + ["--service-config", "{"])
      #expect(wrong.exitCode == 65)
      #expect(try Command.product("switchboard", words + ["--compress", "snail"]).exitCode == 64)
    }
  }

  /// The service is there, so that to suggest its name helps nobody.
  @Test func aServiceWithoutDescriptorsIsNotSuggestedAgain() async throws {
    let services: [any CallHandlerProvider] = [Undescribed()]
    try await withServer(services + [try ReflectionService(describing: services)]) {
      _,
      address async throws in
      let target = "\(address)"
      for words in [["call", target, "bare.Service/Get"], ["describe", target, "bare.Service"]] {
        let run = try Command.product("switchboard", words)
        #expect(run.exitCode == 5)
        #expect(
          run.errors == """
            switchboard: \(target) has the service 'bare.Service', but no descriptors of it
            '--proto FILE' or '--descriptor-set FILE' take the descriptors from files.

            """
        )
      }
    }
  }

  private struct Undescribed: CallHandlerProvider {
    let serviceName = "bare.Service"
    let methodHandlers: [MethodHandler] = []
  }

  @Test func saysWhichProtocolAServerLacks() async throws {
    let proto = ["--proto", TestFolders.root.appending(path: "Protos/echo/echo.proto").path]
    func call(_ target: String, _ flags: [String]) throws -> Command {
      try Command.product("switchboard", ["call", target, "echo.Echo/Get"] + flags)
    }
    try await withServer([Echo()]) { _, address async throws in
      let refused = try call("\(address)", ["--protocol", "connect"] + proto)
      #expect(refused.errors.contains("ServerOptions.web lets it"))
    }
    var options = ServerOptions()
    options.web = WebOptions()
    try await withServer([Echo()], options: options) { _, address async throws in
      let target = "\(address)"
      #expect(try call(target, ["--protocol", "connect"]).errors.contains("has no reflection service"))
      let secure = try call(target, ["--tls"] + proto)
      #expect(secure.errors.contains("the server does not speak TLS"), "\(secure.errors)")
      // A user of the command has flags, not options.
      #expect(!secure.errors.contains("ChannelOptions"), "\(secure.errors)")
      #expect(secure.errors.hasSuffix("\n'--plaintext' connects without TLS.\n"))
    }
  }

  @Test func hintsAtTLSWhenAllCallsFail() async throws {
    let files = try CertificateFiles()
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: TLSCredentials(
        certificateChain: .file(files.serverCertificate),
        privateKey: .file(files.serverKey)
      )
    )
    try await withServer([Echo()], options: options) { _, address async throws in
      let target = "\(address)"
      let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
      let load = try Run("load", target, "echo.Echo/Get", "--proto", proto, "-n", "5")
      #expect(load.exitCode == 14)
      #expect(load.errors.hasSuffix("\n'--tls' connects with TLS.\n"), "\(load.errors)")
    }
  }

  @Test func showsMetadataWithoutWhatTheProtocolSends() async throws {
    try await serving { target in
      let call = try Run("call", target, "echo.Echo/Get", "-v")
      let received = call.errors.split(separator: "\n").filter { $0.hasPrefix("<") }
      #expect(received == ["< OK"], "\(call.errors)")
    }
  }

  @Test func findsAFileOutsideTheDirectoryWithoutImportPaths() throws {
    let file = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
    #expect(try Run("describe", "--proto", file, "echo.Echo").output.contains("service Echo {"))
  }

  @Test func waitsForAServer() async throws {
    let path = NSTemporaryDirectory() + "later-\(UUID().uuidString.prefix(8)).sock"
    let proto = ["--proto", "echo/echo.proto", "-I", TestFolders.root.appending(path: "Protos").path]
    let call = try ChildProcess(
      Command.path(ofProduct: "switchboard"),
      ["call", "unix:\(path)", "echo.Echo/Get", "--wait-for-ready", "-t", "60s"] + proto
    )
    let later = try Server(providers: [Echo()])
    try await withEnd(
      { await later.shutDown(grace: .zero) },
      {
        _ = try later.bind(unixPath: path)
        #expect(call.line() == #"{"text":" for nobody"}"#)
        #expect(call.exitCode() == 0)
      }
    )
  }

  @Test func drawsChannelz() async throws {
    try await serving { target in
      let tree = try Run("channelz", target)
      #expect(tree.output.hasPrefix("server echo #"), "\(tree.errors)")
      #expect(tree.output.contains("├── listens on \(target)\n"))
      #expect(tree.output.contains("└── socket "))
      let watch = try ChildProcess(
        Command.path(ofProduct: "switchboard"),
        ["channelz", target, "--watch", "--interval", "50ms"]
      )
      var lines: [String] = []
      while let line = watch.line() {
        lines.append(line)
        if line.hasPrefix("server"), line.contains("/s)") { break }
      }
      #expect(lines.last?.contains("/s)") == true)
      watch.send(SIGINT)
      _ = watch.allOutput()
      #expect(watch.exitCode() == 130)
      #expect(try Run("channelz", target, "--interval", "1ms", "--watch").exitCode == 64)
    }
  }

  @Test func completesWordsFromTheServer() async throws {
    try await serving { target in
      #expect(
        try Run("complete", "--deadline", "60s", "--", "call", target, "echo.Echo/G").output.hasPrefix(
          "echo.Echo/Get\t"
        )
      )
      #expect(try Run("complete", "--deadline", "60s", "--", "list", target, "echo").output == "echo.Echo\n")
      #expect(
        try Run("complete", "--deadline", "60s", "--", "describe", target, "echo.EchoReq").output
          == "echo.EchoRequest\tmessage\n"
      )
      #expect(
        try Run("complete", "--deadline", "60s", "--", "health", "-t", "3s", target, "grpc.h").output
          == "grpc.health.v1.Health\n"
      )
      #expect(try Run("complete", "--deadline", "60s", "--", "desc").output.hasPrefix("describe\t"))
      #expect(
        try Run("complete", "--deadline", "60s", "--", "call", target, "x", "--emit").output.hasPrefix(
          "--emit-defaults\t"
        )
      )
      #expect(
        try Run("complete", "--deadline", "60s", "--", "call", target, "x", "--format", "").output
          == "json\ntext\n"
      )
      #expect(
        try Run("complete", "--deadline", "60s", "--", "call", target, "x", "--format=t").output
          == "--format=text\n"
      )
      #expect(try Run("complete", "--deadline", "60s", "--", "list", "--proto", "").output == ":file\n")
      let unanswered = try Run("complete", "--deadline", "60s", "--", "call", "localhost:1", "")
      #expect((unanswered.output, unanswered.errors, unanswered.exitCode) == ("", "", 0))
      // In a real shell.
      let script = """
        eval "$(\(Command.path(ofProduct: "switchboard")) completions bash)"
        PATH=\(URL(fileURLWithPath: Command.path(ofProduct: "switchboard")).deletingLastPathComponent().path):$PATH
        compopt() { :; }
        switchboard() { command switchboard "$1" --deadline 60s "${@:2}"; }
        for flags in '' "-H 'authorization: Bearer x'" '-H "a: b c"' '-H a:\\ b'; do
          COMP_LINE="switchboard call $flags \(target) echo.Echo/G"
          COMP_POINT=${#COMP_LINE}
          _switchboard
          printf '%s\\n' "${COMPREPLY[@]}"
        done
        """
      let shell = try Command.run("bash", ["-c", script])
      let found = String(repeating: "echo.Echo/Get\n", count: 4)
      #expect(String(decoding: shell.output, as: UTF8.self) == found, "\(shell.errors)")
    }
  }

  @Test func endsQuietlyWhenThePipeCloses() async throws {
    try await serving { target in
      let head = try Command.run(
        "bash",
        [
          "-c",
          "\(Command.path(ofProduct: "switchboard")) call \(target) echo.Echo/Expand -d \"$(printf '{\"text\": \"'; yes a | head -n 20000 | tr '\\n' ' '; printf '\"}')\" | head -n 1; echo ${PIPESTATUS[0]}",
        ]
      )
      #expect(String(decoding: head.output, as: UTF8.self) == "{\"text\":\"a\"}\n141\n")
      #expect(head.errors == "")
    }
  }

  @Test func recognizesAServerOfAnotherProtocol() throws {
    let pages = try ChildProcess(TestFolders.python, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"])
    let line = try #require(pages.line())
    let port = try #require(line.split(separator: " ").first { Int($0) != nil })
    let list = try Run("list", "localhost:\(port)")
    #expect(list.exitCode == 14)
    #expect(list.errors.contains("HTTP"), "\(list.errors)")
    let health = try Run("health", "localhost:\(port)")
    #expect(health.exitCode == 14)
    pages.end(with: SIGTERM)
  }
}
