import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The scripts for zsh and fish, in these shells.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ShellCompletionTests {
  private struct Case: Sendable {
    let line: String
    let wanted: [String]
  }

  private static func cases(_ target: String) -> [Case] {
    [
      Case(line: "switchboard li", wanted: ["list"]),
      Case(line: "switchboard call \(target) shop.Shop/Buy", wanted: ["shop.Shop/Buy", "shop.Shop/BuyAll"]),
      Case(line: "switchboard list -H 'tenant: a b' \(target) sho", wanted: ["shop.Shop"]),
      Case(line: "switchboard call \(target) --protocol ", wanted: ["connect", "grpc", "grpc-web"]),
    ]
  }

  private func script(_ shell: String, in folder: URL) throws -> String {
    let path = folder.appending(path: "completions.\(shell)").path
    let written = try Command.product("switchboard", ["completions", shell])
    try Data(written.output).write(to: URL(filePath: path))
    return path
  }

  private func withServer(_ body: (String, URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "shell-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try GRPCIOServer()
    try body(server.target, folder)
    server.close()
  }

  private func run(_ shell: String, _ text: String) throws -> Command {
    let folder = URL(filePath: Command.path(ofProduct: "switchboard")).deletingLastPathComponent().path
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    let options = shell == "zsh" ? ["-f"] : []
    let environment = ["PATH=\(folder):\(path)", "HOME=/nonexistent"]
    return try Command.run("/usr/bin/env", environment + [shell] + options + ["-c", text])
  }

  @Test func fishCompletesNamesOfTheServer() throws {
    try withServer { target, folder in
      let script = try script("fish", in: folder)
      for one in Self.cases(target) {
        let run = try run(
          "fish",
          """
          source \(script)
          function switchboard; command switchboard $argv[1] --deadline 60s $argv[2..-1]; end
          complete -C"\(one.line)"
          """
        )
        let names = String(decoding: run.output, as: UTF8.self).split(separator: "\n")
          .map { String($0.prefix { $0 != "\t" }) }
        #expect(names.sorted() == one.wanted, "\(one.line): \(run.errors)")
      }
    }
  }

  @Test func zshCompletesNamesOfTheServer() throws {
    try withServer { target, folder in
      let script = try script("zsh", in: folder)
      for one in Self.cases(target) {
        // What zsh's own functions are given, with the words as its editor splits them: quotes and all.
        let run = try run(
          "zsh",
          """
          compdef() { }
          _describe() { print -l -- ${(P)2} }
          source \(script)
          switchboard() { command switchboard "$1" --deadline 60s "${@:2}" }
          line=\(Self.quoted(one.line))
          words=("${(@z)line}")
          [[ $line == *' ' ]] && words+=("")
          CURRENT=$#words
          _switchboard
          """
        )
        let names = String(decoding: run.output, as: UTF8.self).split(separator: "\n")
          .map { String($0.prefix { $0 != ":" }) }
        #expect(names.sorted() == one.wanted, "\(one.line): \(run.errors)")
      }
    }
  }

  /// A word of the shell; quotes in single quotes end them.
  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
