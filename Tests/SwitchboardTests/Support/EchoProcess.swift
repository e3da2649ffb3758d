import Foundation
import Switchboard
import TestSupport

/// The example's server in its own process.
final class EchoProcess {
  private let process: ChildProcess
  let target: String
  /// The lines that it printed before its address.
  let greeting: [String]

  /// Limits the open files of the process to `maxOpenFiles`.
  init(_ arguments: [String] = [], maxOpenFiles: Int? = nil) throws {
    let limit = maxOpenFiles.map { "ulimit -n \($0) && " } ?? ""
    process = try ChildProcess(
      "/bin/sh",
      [
        "-c", "\(limit)exec \"$0\" server --host 127.0.0.1 --port 0 \"$@\"",
        Command.path(ofProduct: "Echo"),
      ] + arguments
    )
    let start = "listening on "
    var greeting: [String] = []
    var line = process.line()
    while let text = line, !text.hasPrefix(start) {
      greeting.append(text)
      line = process.line()
    }
    self.greeting = greeting
    guard let line else { throw NotServing() }
    target = String(line.dropFirst(start.count))
  }

  struct NotServing: Error {}

  var port: Int { target.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

  func terminate() { process.send(SIGTERM) }

  func waitForExit() -> Int32 { process.exitCode() }
}
