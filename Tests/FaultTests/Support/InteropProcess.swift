import Foundation
import Switchboard
import TestSupport

/// A server of gRPC's interoperability tests in a process of its own: ours, or one of another make.
struct InteropProcess: Sendable {
  enum Make: String, Sendable {
    case ours, grpcio
  }

  let program: Program
  let port: Int

  /// Port zero is any that is free.
  static func start(
    _ make: Make = .ours,
    port: Int = 0,
    _ flags: [String] = [],
    errors: Program.Stream = .discarded
  ) async throws -> InteropProcess {
    let program: Program
    switch make {
    case .ours:
      let words = ["server", "--port=\(port)"] + flags
      program = try Program(Command.path(ofProduct: "Interop"), words, errors: errors)
    case .grpcio:
      let peers = tests.appending(path: "InteropTests/Peers")
      let words = ["grpcio_interop.py", "server", "service_account.json"].map { word in
        word.contains(".") ? peers.appending(path: word).path : word
      }
      let python = tests.deletingLastPathComponent().appending(path: ".venv/bin/python3").path
      // It serves until its input ends.
      program = try Program(python, words, input: .descriptor(endlessInput.get().far))
    }
    guard let line = await program.line(), let port = line.split(separator: ":").last.flatMap({ Int($0) })
    else { throw Program.CannotStart(description: "the server says nothing") }
    return InteropProcess(program: program, port: port)
  }

  /// On a port below those that the system gives to whoever asks for any: so nobody else gets it between two servers.
  static func startForRestart() async throws -> InteropProcess {
    for _ in 0..<20 {
      if let server = try? await start(port: .random(in: 20_000..<32_000)) { return server }
    }
    throw Program.CannotStart(description: "no port is free")
  }

  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Nothing is ever written into it, and it is never closed.
  private static let endlessInput = Result { try SocketPair() }
}
