import TestSupport
import Testing

/// What the example prints: the tutorial's transcripts, word for word, and messages for invalid arguments.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct TranscriptTests {
  private func client(_ server: EchoProcess, _ arguments: String...) throws -> Command {
    try Command.product("Echo", ["client", "--host", "127.0.0.1", "--port", "\(server.port)"] + arguments)
  }

  private func text(_ command: Command) -> String { String(decoding: command.output, as: UTF8.self) }

  @Test(arguments: [[], ["--tls"]]) func theTutorialsCallPrintsItsTranscript(_ security: [String]) throws {
    let server = try EchoProcess(security)
    #expect(server.greeting == ["starting \(security.isEmpty ? "insecure" : "secure") server"])
    let call = try Command.product(
      "Echo",
      ["client", "--host", "127.0.0.1", "--port", "\(server.port)"] + security + ["Hello"]
    )
    #expect(
      text(call) == """
        get received: Swift echo get: Hello
        get completed with status: ok (0)

        """
    )
    #expect(call.errors == "")
    #expect(call.exitCode == 0)
  }

  @Test func theTutorialsInterceptorPrintsItsTranscript() throws {
    let server = try EchoProcess()
    #expect(
      try text(client(server, "--intercept", "Hello")) == """
        > Starting '/echo.Echo/Get' RPC, headers: []
        > Sending request with text 'Hello'
        > Closing request stream
        < Received headers: [':status': '200', 'content-type': 'application/grpc']
        < Received response with text 'Swift echo get: Hello'
        get received: Swift echo get: Hello
        < Response stream closed with status: 'ok (0): OK' and trailers: ['grpc-status': '0', 'grpc-message': 'OK']
        get completed with status: ok (0)

        """
    )
  }

  @Test func theOtherCallsPrintTheirTranscripts() throws {
    let server = try EchoProcess()
    #expect(
      try text(client(server, "expand", "one two")) == """
        expand received: Swift echo expand (0): one
        expand received: Swift echo expand (1): two
        expand completed with status: ok (0)

        """
    )
    #expect(
      try text(client(server, "collect", "one two")) == """
        collect received: Swift echo collect: one two
        collect completed with status: ok (0)

        """
    )
    #expect(
      try text(client(server, "update", "one two")) == """
        update received: Swift echo update (0): one
        update received: Swift echo update (1): two
        update completed with status: ok (0)

        """
    )
    #expect(
      try text(client(server, "--intercept", "collect", "one two")) == """
        > Starting '/echo.Echo/Collect' RPC, headers: []
        > Sending request with text 'one'
        > Sending request with text 'two'
        > Closing request stream
        < Received headers: [':status': '200', 'content-type': 'application/grpc']
        < Received response with text 'Swift echo collect: one two'
        collect received: Swift echo collect: one two
        < Response stream closed with status: 'ok (0): OK' and trailers: ['grpc-status': '0', 'grpc-message': 'OK']
        collect completed with status: ok (0)

        """
    )
  }

  /// The reader of streamed responses runs in parallel with the interceptors: each prints in order, but they
  /// interleave.
  @Test(arguments: ["expand", "update"]) func theInterceptorSeesStreamedParts(_ rpc: String) throws {
    let server = try EchoProcess()
    let lines = try text(client(server, "--intercept", rpc, "one two")).split(separator: "\n").map(
      String.init
    )
    let name = rpc == "expand" ? "Expand" : "Update"
    let requests = rpc == "expand" ? ["one two"] : ["one", "two"]
    let answers = ["one", "two"].enumerated().map { "Swift echo \(rpc) (\($0)): \($1)" }
    #expect(
      lines.filter { $0.hasPrefix("> ") }
        == ["> Starting '/echo.Echo/\(name)' RPC, headers: []"]
        + requests.map { "> Sending request with text '\($0)'" } + ["> Closing request stream"]
    )
    #expect(
      lines.filter { $0.hasPrefix("< ") }
        == ["< Received headers: [':status': '200', 'content-type': 'application/grpc']"]
        + answers.map { "< Received response with text '\($0)'" }
        + [
          "< Response stream closed with status: 'ok (0): OK' and trailers: ['grpc-status': '0', 'grpc-message': 'OK']"
        ]
    )
    #expect(
      lines.filter { $0.hasPrefix(rpc) }
        == answers.map { "\(rpc) received: \($0)" } + ["\(rpc) completed with status: ok (0)"]
    )
  }

  @Test func aFailedCallPrintsItsStatus() throws {
    let server = try EchoProcess()
    let wrongSecurity = try client(server, "--tls", "Hello")
    #expect(wrongSecurity.exitCode == 1)
    #expect(wrongSecurity.errors.contains("Echo: get failed with status: unavailable (14): "))
    #expect(wrongSecurity.output.isEmpty)
    let second = try Command.product("Echo", ["server", "--host", "127.0.0.1", "--port", "\(server.port)"])
    #expect(second.exitCode == 1)
    #expect(
      second.errors
        == "Echo: unavailable (14): cannot listen on ipv4:127.0.0.1:\(server.port): address already in use\n"
    )
    server.terminate()
    #expect(server.waitForExit() == 0)
    let alone = try client(server, "Hello")
    #expect(alone.exitCode == 1)
    #expect(alone.errors.contains("cannot connect to 127.0.0.1:\(server.port): connection refused"))
  }

  @Test(arguments: [
    (["client", "--nope", "x"], "unknown option --nope"),
    (["client", "--port"], "--port needs a value"),
    (["client", "--port", "99999", "x"], "99999 is not a port: expected a number from 0 to 65535"),
    (["client", "shout", "x"], "unknown RPC shout: expected one of get, expand, collect, update"),
    (["client"], "a client sends one message: put several words in quotes"),
    (["server", "x"], "unexpected argument after server"),
    (["listen"], "listen is neither server nor client"),
    ([], "expected server or client"),
  ]) func invalidArgumentsAreReported(_ arguments: [String], _ complaint: String) throws {
    let command = try Command.product("Echo", arguments)
    #expect(command.exitCode == 64)
    #expect(command.errors == "Echo: \(complaint)\nTry: Echo --help\n")
    #expect(command.output.isEmpty)
  }
}
