import InteropService
import Switchboard

/// Cases against a server that violates HTTP/2 on purpose.
extension InteropClient {
  /// A server that resets a stream before sending a status fails the call, whatever it sent before. A call that fails
  /// for another reason proves nothing.
  func failsByReset() async throws {
    let status = try await failure("a call that the server resets") { try await largeUnary() }
    try expect(status.code, .internalError, "the code of \(status)")
  }

  /// Makes one call to learn the server's limit, and then more concurrent calls than the limit allows.
  func maxStreams() async throws {
    try await largeUnary()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { try await largeUnary() } }
      try await group.waitForAll()
    }
  }
}
