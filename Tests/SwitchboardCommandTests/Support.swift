import Foundation
import Switchboard
import TestSupport

/// A run of the command as a user starts it.
struct Run {
  let command: Command

  var output: String { String(decoding: command.output, as: UTF8.self) }
  var errors: String { command.errors }
  var exitCode: Int32 { command.exitCode }

  init(_ arguments: String..., input: String = "") throws {
    command = try Command.product("switchboard", arguments, input: Array(input.utf8))
  }

  static let protos = TestFolders.root.appending(path: "Tests/SwitchboardCommandTests/Protos").path
}

/// A server by grpcio, with `shop.Shop`, health and reflection (v1alpha).
final class GRPCIOServer {
  private let process: ChildProcess
  let port: String

  init(_ arguments: String...) throws {
    let script = TestFolders.peers().appending(path: "command_peer.py").path
    process = try ChildProcess(TestFolders.python, [script, Run.protos] + arguments)
    guard let line = process.line(), Int(line) != nil else { throw Unstarted() }
    port = line
  }

  var target: String { "localhost:\(port)" }

  /// Makes `shop.Shop` stop serving.
  func close() { process.write("close\n") }

  deinit { process.stop() }
}

struct Unstarted: Error {}

/// How often a server was asked.
final class Questions: Sendable {
  let count = Locked(0)
}
