import InteropService
import Switchboard

/// Cases against a server that was written to misbehave.
extension InteropClient {
  /// A server that resets the call before it has said how the call ended has failed it, whatever came before. A call that
  /// failed in another way proves nothing.
  func failsByReset() async throws {
    let status = try await failure("a call that the server resets") { try await largeUnary() }
    try expect(status.code, .internalError, "the code of \(status)")
  }

  /// A first call, by which the server's limit comes to be known, and then more calls than it allows at a time.
  func maxStreams() async throws {
    try await largeUnary()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { try await largeUnary() } }
      try await group.waitForAll()
    }
  }
}
