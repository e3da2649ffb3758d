import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The turns of a connection's large messages on other threads.
@Suite(.timeLimit(.minutes(5))) struct MessageTurnTests {
  /// Streams whose large messages never end would keep calls with compressed ones waiting until their deadlines.
  @Test func decodingLeavesTurnsToDecompression() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let messages = LargeMessages(on: loop, limit: 1)
    let decoded = Locked(0)
    let decompressed = Locked<[Int]>([])
    @Sendable func decode() {
      let piece = messages.run {
        decoded.withLock { $0 += 1 }
      } then: { _ in
        if decoded.withLock({ $0 }) < 1000 { decode() }
      }
      _ = piece
    }
    await loop.onLoop {
      for _ in 0..<3 { decode() }
      for _ in 0..<3 {
        _ = messages.run(inflating: true) {
          decompressed.withLock { $0.append(decoded.withLock { $0 }) }
        } then: { _ in
        }
      }
    }
    await loop.until { decoded.withLock { $0 } >= 1000 }
    #expect(decompressed.withLock { $0 } == [1, 2, 3])
  }
}
