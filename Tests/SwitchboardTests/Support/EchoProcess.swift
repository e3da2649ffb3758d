import Foundation
import Switchboard

/// The example's server in a process of its own.
final class EchoProcess {
  private let process = Process()
  private let output = Pipe()
  let target: String

  /// With no more open files than given, if one is.
  init(maxOpenFiles: Int? = nil) throws {
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let echo = products.appendingPathComponent("Echo").path
    let limit = maxOpenFiles.map { "ulimit -n \($0); " } ?? ""
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "\(limit)exec '\(echo)' server --host 127.0.0.1 --port 0"]
    process.standardOutput = output
    try process.run()
    var text = ""
    while !text.hasSuffix("\n") || !text.contains("listening on ") {
      guard let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty else {
        throw NotServing()
      }
      text += String(decoding: byte, as: UTF8.self)
    }
    target = text.split(separator: "\n").last.map { String($0.dropFirst("listening on ".count)) } ?? ""
  }

  struct NotServing: Error {}

  var port: Int { target.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

  func terminate() { process.terminate() }

  func waitForExit() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }
}
