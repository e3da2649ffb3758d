import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Other protocols on a TLS port, and TLS on a plaintext port.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TLSAttackTests {
  private static let garbage: [[UInt8]] = [
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8),
    Array("GET / HTTP/1.1\r\nHost: test\r\n\r\n".utf8),
    [UInt8](repeating: 0, count: 1000),
    [UInt8](repeating: 0xff, count: 1000),
    // Records: an alert, one that is too long, application data before any ClientHello.
    [0x15, 3, 1, 0, 2, 2, 40],
    [0x16, 3, 1, 0xff, 0xff] + [UInt8](repeating: 1, count: 20_000),
    [0x17, 3, 3, 0, 5, 1, 2, 3, 4, 5],
    // A ClientHello with a wrong length.
    [0x16, 3, 1, 0, 10, 1, 0xff, 0xff, 0xff, 3, 3, 0, 0, 0, 0],
    (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) },
  ]

  @Test(arguments: garbage) func bytesOtherThanTLSAreDisconnected(_ bytes: [UInt8]) async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let peer = try RawPeer(hostile.pair.address)
      peer.send(bytes)
      #expect(peer.readToEnd())
      await hostile.abuses.wait(for: .brokenTLS)
      #expect(hostile.abuses.counts == [.brokenTLS: 1])
    }
  }

  @Test func manyBrokenHandshakesLeaveOthersAlone() async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let address = hostile.pair.address
      try await hostile.serveOthers(while: RawPeer(address)) { _ in
        for _ in 0..<200 {
          guard let peer = try? RawPeer(address) else { return }
          peer.send([0x16, 3, 1, 0, 10, 1, 0xff, 0xff, 0xff, 3, 3, 0, 0, 0, 0])
        }
      }
    }
  }

  @Test func aClientHelloOnAPlaintextPortEndsTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try RawPeer(hostile.pair.address)
      peer.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3] + [UInt8](repeating: 0, count: 500))
      #expect(peer.readToEnd())
      await hostile.abuses.wait(for: .notHTTP2)
    }
  }
}
