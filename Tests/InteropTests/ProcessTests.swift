import Foundation
import Interop
import TestSupport
import Testing

/// The command itself: its output and its exit code.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ProcessTests {
  private func end(_ words: [String]) throws -> (code: Int32, output: String, errors: String) {
    let command = try Command.product("Interop", words)
    return (command.exitCode, String(decoding: command.output, as: UTF8.self), command.errors)
  }

  /// A process that gets too little time says so.
  private func isAboutTheMachine(_ line: Substring) -> Bool { line.contains("an event loop") }

  @Test func aServerServesUntilASignal() throws {
    let server = try ChildProcess(
      Command.path(ofProduct: "Interop"),
      ["server", "--port=0"],
      errors: .discarded
    )
    let port = server.line()?.split(separator: ":").last ?? ""
    let passed = try end(["client", "--server_port=\(port)", "--test_case=large_unary"])
    #expect(passed.code == 0)
    #expect(passed.output == "large_unary: passed\n")
    #expect(passed.errors.split(separator: "\n").allSatisfy(isAboutTheMachine))
    let failed = try end(["client", "--server_port=\(port)", "--test_case=rst_after_header"])
    #expect(failed.code == 1)
    #expect(failed.output == "")
    let reasons = failed.errors.split(separator: "\n").filter { !isAboutTheMachine($0) }
    #expect(reasons.first?.hasPrefix("Interop: rst_after_header: failed: ") == true)
    server.send(SIGTERM)
    #expect(server.exitCode() == 0)
    let nobody = try end(["client", "--server_port=\(port)", "--test_case=empty_unary"])
    #expect(nobody.code == 1)
  }

  @Test(arguments: [
    ["client"], ["client", "--test_case=none"], ["client", "--nonsense"], ["nobody"],
    ["client", "--test_case=jwt_token_creds", "--server_port=1"],
  ])
  func anInvalidCommandLineIsReported(_ words: [String]) throws {
    let ended = try end(words)
    #expect(ended.code == 64)
    #expect(ended.errors.hasSuffix("Try: Interop --help\n"))
  }

  @Test func helpIsPrinted() throws {
    let ended = try end(["--help"])
    #expect(ended.code == 0)
    #expect(ended.output.contains("--server_host_override"))
  }
}
