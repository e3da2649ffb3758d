import Foundation
import Testing

@testable import Interop

/// The command itself: what it prints, and what it ends with.
@Suite(.timeLimit(.minutes(2))) struct ProcessTests {
  private struct Ended {
    let code: Int32
    let output: String
    let errors: String
  }

  private static let command = URL(fileURLWithPath: CommandLine.arguments[0])
    .deletingLastPathComponent().appendingPathComponent("Interop")

  private func start(_ words: [String]) throws -> (Process, Pipe, Pipe) {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = Self.command
    process.arguments = words
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return (process, output, errors)
  }

  private func text(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  private func end(_ words: [String]) throws -> Ended {
    let (process, output, errors) = try start(words)
    let texts = (text(output), text(errors))
    process.waitUntilExit()
    return Ended(code: process.terminationStatus, output: texts.0, errors: texts.1)
  }

  @Test func aServerServesUntilItIsTold() throws {
    let (server, output, _) = try start(["server", "--port=0"])
    var line = ""
    while !line.hasSuffix("\n"), let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty
    {
      line += String(decoding: byte, as: UTF8.self)
    }
    let port = line.split(separator: ":").last.map { $0.trimmingCharacters(in: .newlines) } ?? ""
    let passed = try end(["client", "--server_port=\(port)", "--test_case=large_unary"])
    #expect(passed.code == 0)
    #expect(passed.output == "large_unary: passed\n")
    #expect(passed.errors == "")
    let failed = try end(["client", "--server_port=\(port)", "--test_case=rst_after_header"])
    #expect(failed.code == 1)
    #expect(failed.output == "")
    #expect(failed.errors.hasPrefix("Interop: rst_after_header: failed: "))
    server.terminate()
    server.waitUntilExit()
    #expect(server.terminationStatus == 0)
    let nobody = try end(["client", "--server_port=\(port)", "--test_case=empty_unary"])
    #expect(nobody.code == 1)
  }

  @Test(arguments: [
    ["client"], ["client", "--test_case=none"], ["client", "--nonsense"], ["nobody"],
    ["client", "--test_case=jwt_token_creds", "--server_port=1"],
  ])
  func aWrongCommandLineIsSaidToBeSo(_ words: [String]) throws {
    let ended = try end(words)
    #expect(ended.code == 64)
    #expect(ended.errors.hasSuffix("Try: Interop --help\n"))
  }

  @Test func helpIsHelp() throws {
    let ended = try end(["--help"])
    #expect(ended.code == 0)
    #expect(ended.output.contains("--server_host_override"))
  }
}
