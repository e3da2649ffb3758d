import HTTP2TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Frames that arrive in pieces, as TCP may deliver them.
@Suite struct SplitFrameTests {
  /// A greeting, and headers of which each CONTINUATION has a byte; `count` are sent.
  private static func headers(_ count: Int) -> [UInt8] {
    let block = FramePeer.block([(":method", "POST"), (":scheme", "http"), (":path", "/")])
    let first = block.count - count
    var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    bytes += FramePeer.frame(FramePeer.Kind.settings, 0, 0, [])
    bytes += FramePeer.frame(FramePeer.Kind.headers, 1, 1, Array(block[..<first]))
    for index in first..<block.count {
      bytes += FramePeer.frame(
        FramePeer.Kind.continuation,
        index == block.count - 1 ? 4 : 0,
        1,
        [block[index]]
      )
    }
    return bytes
  }

  private static func feed(_ bytes: [UInt8], by size: Int, to session: Session) -> Offense? {
    for start in stride(from: 0, to: bytes.count, by: size) {
      let offense = bytes[start..<min(start + size, bytes.count)].withUnsafeBytes {
        session.receive($0, now: 1)
      }
      if let offense { return offense }
    }
    return nil
  }

  @Test(arguments: [1, 2, 3, 8, 9, 10, 1000]) func continuationsMayComeInPieces(_ size: Int) throws {
    let session = try #require(Session(.server, settings: SessionSettings(), memory: BlockPool()))
    let peer = StubPeer()
    session.delegate = peer
    #expect(Self.feed(Self.headers(8), by: size, to: session) == nil)
    #expect(peer.streams.first?.headerCount == 3)
    withExtendedLifetime(peer) {}
  }

  @Test(arguments: [1, 9, 1000]) func theNumberOfSplitContinuationsIsLimited(_ size: Int) throws {
    let session = try #require(Session(.server, settings: SessionSettings(), memory: BlockPool()))
    let peer = StubPeer()
    session.delegate = peer
    #expect(Self.feed(Self.headers(9), by: size, to: session)?.abuse == .continuationFlood)
    withExtendedLifetime(peer) {}
  }
}
