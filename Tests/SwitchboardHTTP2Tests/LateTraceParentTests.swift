import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// The header `traceparent` at the end of a request's headers, which does not go through nghttp2 if a server wants it.
@Suite struct LateTraceParentTests {
  private final class Stream: StreamEntry, SessionStream {
    var fields: Set<String> = []
    var fieldCount = 0
    var headersEnded = false

    func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
      self.fields.insert(String(decoding: name, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self))
      fieldCount += 1
    }

    func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) { headersEnded = endsStream }
    func headersWereRefused(_ status: GRPCStatus) {}
    func didClose(_ code: UInt32) {}
    func takeTraceParent() -> TraceParentText? { nil }
    func receiveData(_ bytes: UnsafeRawBufferPointer) {}
    func remoteDidEnd() {}
    func localDidEnd() {}
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { .last(0) }
    func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? { nil }
    func trailers(into headers: HeaderWriter) -> Trailers { .none }
    func processReady() {}
  }

  private final class Peer: SessionDelegate {
    var streams: [Stream] = []
    var sessionNow: UInt64 { 1 }

    func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)? {
      streams.append(Stream())
      return streams.last
    }
    func sessionDidReceiveGoAway(_ goAway: GoAway) {}
    func sessionDidReceiveSettings() {}
    func sessionDidReceivePing(isAck: Bool, payload: UInt64) {}
    func sessionDidBlamePeer() {}
  }

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
    takesTraceParents: Bool = true
  ) throws -> (streams: [Stream], isAccepted: Bool) {
    let pool = BlockPool()
    let session = try #require(Session(.server, settings: SessionSettings(isServer: true), memory: pool))
    let peer = Peer()
    session.delegate = peer
    session.takesTraceParents = takesTraceParents
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
    return (peer.streams, isAccepted && session.errorSent ?? 0 == 0)
  }

  @Test(arguments: [Int.max, 1, 100, 173])
  func requestsHaveTheHeaderHoweverTheyArrive(in pieceSize: Int) throws {
    let blocks = [
      block(request + [("a", "b"), ("traceparent", Self.value)]),
      block(request),
      block(request + [("traceparent", Self.value), ("a", "b")]),
      block(request + [("traceparent", Self.value)]),
    ]
    let plain = try receive(blocks, takesTraceParents: false)
    let (streams, isAccepted) = try receive(blocks, in: pieceSize)
    #expect(isAccepted && plain.isAccepted)
    #expect(streams.map(\.fields) == plain.streams.map(\.fields))
    #expect(streams.map(\.fieldCount) == [6, 4, 6, 5])
    #expect(streams.map { $0.fields.contains("traceparent=\(Self.value)") } == [true, false, true, true])
    #expect(streams.allSatisfy { $0.headersEnded })
  }

  @Test(arguments: ["\u{01}", "\r", " ", "\u{7f}"])
  func aValueThatIsNotVisibleIsLeftToNghttp2(_ bad: String) throws {
    let value = Self.value.dropLast() + bad
    let blocks = [block(request + [("traceparent", String(value))])]
    let (streams, isAccepted) = try receive(blocks)
    let plain = try receive(blocks, takesTraceParents: false)
    #expect(isAccepted == plain.isAccepted)
    #expect(streams.map(\.fields) == plain.streams.map(\.fields))
    #expect(streams.map(\.headersEnded) == plain.streams.map(\.headersEnded))
  }

  @Test func whatLooksLikeTheHeaderWithinAnotherStringIsRefused() throws {
    let inner = block([("traceparent", Self.value)])
    // Plain, and as if it had Huffman coding.
    for coding: UInt8 in [0, 0x80] {
      let outer = block(request) + [0, 1] + Array("a".utf8) + [coding | UInt8(inner.count)] + inner
      let (streams, isAccepted) = try receive([outer])
      #expect(!isAccepted)
      #expect(streams.allSatisfy { !$0.headersEnded })
    }
  }
}
