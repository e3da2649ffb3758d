import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The header `traceparent` at the end of a request's headers, which does not go through nghttp2 if a server wants it.
@Suite struct LateTraceParentTests {
  private static let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private let request = [(":method", "POST"), (":scheme", "http"), (":path", "/a/B"), (":authority", "x")]

  private func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0, UInt8($0.utf8.count)] + $0.utf8 + [UInt8($1.utf8.count)] + $1.utf8 }
  }

  private func frame(_ id: UInt8, _ block: [UInt8]) -> [UInt8] {
    [0, UInt8(block.count >> 8), UInt8(block.count & 255), 1, 5, 0, 0, 0, id] + block
  }

  /// What a server receives of requests with these blocks, and whether it accepts them.
  private func receive(
    _ blocks: [[UInt8]],
    in pieceSize: Int = .max,
    takesShortcuts: Bool = true
  ) throws -> (streams: [StubStream], isAccepted: Bool) {
    let pool = BlockPool()
    var settings = SessionSettings()
    settings.takesShortcuts = takesShortcuts
    let session = try #require(Session(.server, settings: settings, memory: pool))
    let peer = StubPeer()
    session.delegate = peer
    session.shortcuts?.takesTraceParents = true
    var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    for (index, block) in blocks.enumerated() { bytes += frame(UInt8(2 * index + 1), block) }
    var isAccepted = true
    while !bytes.isEmpty, isAccepted {
      let piece = Array(bytes.prefix(pieceSize))
      bytes.removeFirst(piece.count)
      isAccepted = piece.withUnsafeBytes { session.receive($0, now: 1) } == nil
    }
    let output = OutputBuffer()
    while session.drain(into: output, limit: 1 << 20) == .some {}
    session.connectionDidClose()
    return (peer.streams, isAccepted && session.end.errorSent ?? 0 == 0)
  }

  /// What a server receives that takes the header, which must be the same as if nghttp2 had seen it.
  private func receiveAlike(
    _ blocks: [[UInt8]],
    in pieceSize: Int = .max
  ) throws -> (streams: [StubStream], isAccepted: Bool) {
    let plain = try receive(blocks, takesShortcuts: false)
    let taken = try receive(blocks, in: pieceSize)
    #expect(taken.isAccepted == plain.isAccepted)
    #expect(taken.streams.map(\.headers) == plain.streams.map(\.headers))
    #expect(taken.streams.map(\.headersEnded) == plain.streams.map(\.headersEnded))
    return taken
  }

  @Test(arguments: [Int.max, 1, 100, 173])
  func requestsHaveTheHeaderHoweverTheyArrive(in pieceSize: Int) throws {
    let blocks = [
      block(request + [("a", "b"), ("traceparent", Self.value)]),
      block(request),
      block(request + [("traceparent", Self.value), ("a", "b")]),
      block(request + [("traceparent", Self.value)]),
    ]
    let (streams, isAccepted) = try receiveAlike(blocks, in: pieceSize)
    #expect(isAccepted)
    #expect(streams.map(\.headerCount) == [6, 4, 6, 5])
    #expect(streams.map { $0.headers.contains("traceparent=\(Self.value)") } == [true, false, true, true])
    #expect(streams.allSatisfy { $0.headersEnded })
  }

  @Test(arguments: ["\u{01}", "\r", " ", "\u{7f}"])
  func aValueThatIsNotVisibleIsLeftToNghttp2(_ bad: String) throws {
    let value = Self.value.dropLast() + bad
    let blocks = [block(request + [("traceparent", String(value))])]
    _ = try receiveAlike(blocks)
  }

  /// A caller of a proxy may choose the last value of a request, on a connection that the proxy uses for others too.
  @Test func aHeaderInsideAnotherStringIsNotTaken() throws {
    let inner = block([("traceparent", Self.value)])
    let names: [[UInt8]] = [[0, 1, 0x61], [0x40, 1, 0x61], [0x10, 1, 0x61], [0x0f, 0x1f], [0x7f, 0x00]]
    for name in names {
      // Plain, and with Huffman coding, which may hide any bytes in allowed characters.
      for coding: UInt8 in [0, 0x80] {
        for filler in [0, 3, 200] {
          let length = inner.count + filler
          let count =
            length < 127
            ? [UInt8(length)] : [0x7f, UInt8((length - 127) & 0x7f) | 0x80, UInt8((length - 127) >> 7)]
          let value =
            [coding | count[0]] + count.dropFirst() + [UInt8](repeating: 0x31, count: filler) + inner
          _ = try receiveAlike([block(request) + name + value, block(request)])
        }
      }
    }
  }

  /// As clients encode the fields that they repeat.
  @Test func indexedFieldsMayPrecedeTheHeader() throws {
    let end = block([("traceparent", Self.value)])
    let first = [0x83, 0x86, 0x44, 4] + Array("/a/B".utf8) + [0x41, 1, 0x78] + [0x40, 1, 0x61, 1, 0x62]
    let blocks = [
      first + end, [0x20, 0x3f, 0xe1, 0x1f] + first + end, [0x83, 0x86, 0xc0, 0xbf, 0xbe] + end,
    ]
    let (streams, isAccepted) = try receiveAlike(blocks)
    #expect(isAccepted)
    #expect(streams.allSatisfy { $0.headers.contains("traceparent=\(Self.value)") })
  }
}
