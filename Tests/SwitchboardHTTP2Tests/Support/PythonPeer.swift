import Foundation
import SwitchboardHTTP2
import TestSupport

/// A process that runs one of the scripts in `Peers`, with the Python that `make test` prepares.
final class PythonPeer {
  private let process: ChildProcess

  init(_ script: String, _ arguments: [String]) throws {
    process = try ChildProcess(
      TestFolders.root.appending(path: ".venv/bin/python3").path,
      [TestFolders.peers.appending(path: script).path] + arguments
    )
  }

  /// The next line it prints; `nil` at the end.
  func line() -> String? { process.line() }

  func stop() { process.stop() }
}

/// Where the tests find what is not compiled into them.
enum TestFolders {
  static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  static let root = tests.deletingLastPathComponent().deletingLastPathComponent()
  static let peers = tests.appending(path: "Peers")
}

/// A source in a file, for peers that take only those.
func temporaryFile(_ source: PEMSource) throws -> String {
  guard case .bytes(let bytes) = source else { return "" }
  return try temporaryFile(bytes, suffix: "pem")
}

func temporaryFile(_ bytes: [UInt8], suffix: String) throws -> String {
  let name = "switchboard-\(UUID().uuidString).\(suffix)"
  let url = FileManager.default.temporaryDirectory.appending(path: name)
  try Data(bytes).write(to: url)
  return url.path
}

/// Writes a source over a file.
func write(_ source: PEMSource, to path: String) throws {
  guard case .bytes(let bytes) = source else { return }
  try Data(bytes).write(to: URL(filePath: path))
}
