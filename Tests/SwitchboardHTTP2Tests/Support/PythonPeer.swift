import Foundation
import SwitchboardCall
import SwitchboardHTTP2
import Testing

/// A process that runs one of the scripts in `Peers`, with the Python that `make test` prepares.
final class PythonPeer {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ script: String, _ arguments: [String]) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    let python = root.appending(path: ".venv/bin/python3")
    guard FileManager.default.isExecutableFile(atPath: python.path) else { throw MissingPython() }
    process.executableURL = python
    process.arguments = [tests.appending(path: "Peers/\(script)").path] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  struct MissingPython: Error, CustomStringConvertible {
    var description: String {
      "there is no .venv at the package's root: make one and install Tests/requirements.txt, or run make test"
    }
  }

  /// The next line it prints; `nil` at the end.
  func line() -> String? {
    var bytes: [UInt8] = []
    while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

/// A source in a file, for peers that take only those.
func temporaryFile(_ source: PEMSource) throws -> String {
  guard case .bytes(let bytes) = source else { return "" }
  let url = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString).pem")
  try Data(bytes).write(to: url)
  return url.path
}

/// Writes a source over a file.
func write(_ source: PEMSource, to path: String) throws {
  guard case .bytes(let bytes) = source else { return }
  try Data(bytes).write(to: URL(filePath: path))
}
