import Foundation
import TestSupport

/// A server of gRPC's interoperability tests in a process of its own: ours, or one of another make.
struct InteropProcess: Sendable {
  enum Make: String, Sendable {
    case ours, grpcio
  }

  struct NotServing: Error {}

  let program: ChildProcess
  let port: Int

  /// One that has been started, and is about to say where it listens.
  init(_ program: ChildProcess) throws {
    guard let port = program.line()?.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw NotServing()
    }
    self.program = program
    self.port = port
  }

  /// Port zero is any that is free.
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

  /// On a port below those that the system gives to whoever asks for any: so nobody else gets it between two servers.
  static func startForRestart() throws -> InteropProcess {
    for _ in 0..<20 {
      if let server = try? start(port: .random(in: 20_000..<32_000)) { return server }
    }
    throw NotServing()
  }

  func kill() { program.end(with: SIGKILL) }
}
