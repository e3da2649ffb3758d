import Foundation
import TestSupport

/// A server of gRPC's interoperability tests in a separate process: ours or another implementation's.
struct InteropProcess: Sendable {
  enum Make: String, Sendable {
    case ours, grpcio
  }

  struct NotServing: Error {}

  let program: ChildProcess
  let port: Int

  /// A process that was started and has not printed its address yet.
  init(_ program: ChildProcess) throws {
    guard let port = program.line()?.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw NotServing()
    }
    self.program = program
    self.port = port
  }

  /// Port zero means any free port.
  static func start(
    _ make: Make = .ours,
    port: Int = 0,
    _ flags: [String] = [],
    errors: ChildProcess.Stream = .discarded
  ) throws -> InteropProcess {
    switch make {
    case .ours:
      let words = ["server", "--port=\(port)"] + flags
      return try InteropProcess(ChildProcess(Command.path(ofProduct: "Interop"), words, errors: errors))
    case .grpcio:
      let peers = TestFolders.peers(of: "InteropTests")
      let words = ["grpcio_interop.py", "server", "service_account.json"].map { word in
        word.contains(".") ? peers.appending(path: word).path : word
      }
      return try InteropProcess(ChildProcess(TestFolders.python, words, errors: errors))
    }
  }

  /// On a port below the range that the system assigns automatically, so that no other socket gets it between two
  /// servers.
  static func startForRestart() throws -> InteropProcess {
    for _ in 0..<20 {
      if let server = try? start(port: .random(in: 20_000..<32_000)) { return server }
    }
    throw NotServing()
  }

  func kill() { program.end(with: SIGKILL) }
}
