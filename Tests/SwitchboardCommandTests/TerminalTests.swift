import TestSupport
import Testing

/// The command at a terminal: colors, Ctrl-C, typing.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TerminalTests {
  private let server: GRPCIOServer

  init() throws { server = try GRPCIOServer() }

  /// What a user sees, and the exit code.
  private func terminal(_ options: [String] = [], _ arguments: String..., noColor: Bool = false) throws -> (
    String, Int
  ) {
    let script = TestFolders.peers().appending(path: "terminal.py").path
    let program = Command.path(ofProduct: "switchboard")
    let command = noColor ? ["/usr/bin/env", "NO_COLOR=1", program] : [program]
    let run = try Command.run(TestFolders.python, [script] + options + command + arguments)
    let text = String(decoding: run.output, as: UTF8.self)
    let code = text.split(separator: "\n").last?.split(separator: " ").last.flatMap { Int($0) }
    return (text, try #require(code, "\(run.errors)"))
  }

  @Test func colorsTerminalOutput() throws {
    let (shown, code) = try terminal([], "describe", server.target, "shop.Order")
    #expect(code == 0)
    #expect(shown.contains("\u{1B}[35mmessage\u{1B}[0m \u{1B}[1;34mOrder\u{1B}[0m {"))
    #expect(!(try terminal([], "describe", server.target, "shop.Order", noColor: true).0.contains("\u{1B}")))
    let (error, failed) = try terminal([], "call", server.target, "shop.Shop/Bui")
    #expect(error.contains("\u{1B}[1;31mswitchboard:\u{1B}[0m"))
    #expect(failed == 5)
  }

  @Test func formatsResponsesForReading() throws {
    let (shown, _) = try terminal(
      [],
      "call",
      server.target,
      "shop.Shop/Buy",
      "-d",
      #"{"item": "tea"}"#,
      noColor: true
    )
    #expect(shown.contains("{\n  \"text\": \"1 tea\",\n  \"total\": \"9007199254740993\"\n}\n"))
  }

  @Test func endsAStreamOnCtrlC() throws {
    let (shown, code) = try terminal(
      ["--interrupt-after", "forever 2"],
      "call",
      server.target,
      "shop.Shop/Watch",
      "-d",
      #"{"item": "forever"}"#
    )
    #expect(code == 130)
    #expect(shown.contains("forever 0"))
    #expect(!shown.contains("CANCELLED"))
  }

  @Test func sendsWhatIsTypedUntilTheEnd() throws {
    let (shown, code) = try terminal(
      ["--type", #"{"item": "typed"}\n\x04"#],
      "call",
      server.target,
      "shop.Shop/Talk",
      noColor: true
    )
    #expect(shown.contains("Type requests in JSON; Ctrl-D ends them."))
    #expect(shown.contains("you said typed"))
    #expect(code == 0)
    // Ctrl-C ends it while it waits for the next line.
    let (_, stopped) = try terminal(
      ["--interrupt-after", "Ctrl-D ends them."],
      "call",
      server.target,
      "shop.Shop/Talk"
    )
    #expect(stopped == 130)
  }

  @Test func redrawsInPlace() throws {
    let peer = try ChildProcess(TestFolders.root.appending(path: ".build/peers/cpp_server").path, [])
    let target = "localhost:\(try #require(peer.line()))"
    let (shown, code) = try terminal(
      ["--interrupt-after", "/s)"],
      "channelz",
      target,
      "--watch",
      "--interval",
      "50ms"
    )
    #expect(code == 130)
    // Up over the lines of the drawing before, without wrapping, and with wrapping on at the end.
    #expect(shown.contains(/\u{1B}\[[0-9]+A\r\u{1B}\[\?7l/))
    #expect(shown.contains("\u{1B}[?7h"))
    peer.stop()
  }
}
