import Foundation
import Switchboard
import TestSupport

/// The example's server in its own process.
final class EchoProcess {
  private let process: ChildProcess
  let target: String
  /// The lines that it printed before its address.
  let greeting: [String]

  /// `preparation` is what the shell does before, such as to limit the open files of the process.
  init(_ arguments: [String] = [], after preparation: String = ":") throws {
    process = try ChildProcess(
      "/bin/sh",
      [
        "-c", "\(preparation) && exec \"$0\" server --host 127.0.0.1 --port 0 \"$@\"",
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

  func terminate() { send(SIGTERM) }

  func send(_ signal: Int32) { process.send(signal) }

  func waitForExit() -> Int32 { process.exitCode() }
}
