import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

#if canImport(Glibc)
  import Glibc
#endif

/// Malformed messages.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MessageAttackTests {
  private typealias Kind = FramePeer.Kind

  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    var method = "Get"
    var headers: [(String, String)] = []
    let body: [UInt8]
    let code: String
    let abuse: PeerAbuse
    var testDescription: String { name }
  }

  private static let gzip = [("grpc-encoding", "gzip")]

  /// Sixteen megabytes in sixteen kilobytes.
  private static let bomb = zeros(16 << 20)

  /// Compressed zeros, with the message prefix.
  static func zeros(_ count: Int) -> [UInt8] {
    let packed = Compressor.compress(MessageBuffer([UInt8](repeating: 0, count: count)), .gzip)
    return withExtendedLifetime(packed) { Array(packed.unsafeFramedBytes) }
  }

  /// A megabyte with a wrong checksum: the error appears when all of it is decompressed.
  static let damaged: [UInt8] = {
    var bytes = zeros(1 << 20)
    bytes[bytes.count - 8] ^= 1
    return bytes
  }()

  private static let samples: [Sample] = [
    Sample(name: "more than any limit", body: [0, 255, 255, 255, 255], code: "8", abuse: .messageTooLarge),
    Sample(
      name: "just above the limit",
      body: [0] + FramePeer.number(4 << 20 + 1),
      code: "8",
      abuse: .messageTooLarge
    ),
    Sample(
      name: "more than comes",
      body: [0] + FramePeer.number(4 << 20) + [1, 2, 3],
      code: "13",
      abuse: .brokenFraming
    ),
    Sample(
      name: "less than comes",
      body: [0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      code: "13",
      abuse: .brokenFraming
    ),
    Sample(name: "half a prefix", body: [0, 0, 0], code: "13", abuse: .brokenFraming),
    Sample(name: "flags that nobody knows", body: [2, 0, 0, 0, 0], code: "13", abuse: .brokenFraming),
    Sample(name: "compressed, as nobody said", body: [1, 0, 0, 0, 1, 7], code: "13", abuse: .brokenFraming),
    Sample(name: "a bomb", headers: gzip, body: bomb, code: "8", abuse: .decompressionBomb),
    Sample(
      name: "a bomb in a stream",
      method: "Collect",
      headers: gzip,
      body: bomb,
      code: "8",
      abuse: .decompressionBomb
    ),
    Sample(
      name: "damaged",
      headers: gzip,
      body: [1, 0, 0, 0, 5, 0x1f, 0x8b, 8, 0, 7],
      code: "13",
      abuse: .brokenCompression
    ),
    Sample(name: "damaged at its end", headers: gzip, body: damaged, code: "13", abuse: .brokenCompression),
    Sample(
      name: "damaged at its end, in a stream",
      method: "Collect",
      headers: gzip,
      body: damaged,
      code: "13",
      abuse: .brokenCompression
    ),
    Sample(
      name: "compressed nothing",
      headers: gzip,
      body: [1, 0, 0, 0, 0],
      code: "13",
      abuse: .brokenCompression
    ),
    Sample(name: "one too many", body: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], code: "12", abuse: .brokenFraming),
    Sample(
      name: "one too many, compressed",
      headers: gzip,
      body: zeros(1000) + zeros(1000),
      code: "12",
      abuse: .brokenFraming
    ),
    Sample(
      name: "one too many, compressed to much less",
      headers: gzip,
      body: zeros(1 << 20) + zeros(1 << 20),
      code: "12",
      abuse: .brokenFraming
    ),
    Sample(
      name: "broken in a stream",
      method: "Update",
      body: [9, 0, 0, 0, 0],
      code: "13",
      abuse: .brokenFraming
    ),
  ]

  @Test(arguments: samples) func aMalformedMessageFailsItsCall(_ sample: Sample) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call(sample.method, adding: sample.headers))
      for start in stride(from: 0, to: sample.body.count, by: 10_000) {
        let piece = Array(sample.body[start..<min(start + 10_000, sample.body.count)])
        peer.data(1, piece, ends: start + 10_000 >= sample.body.count)
      }
      var status: String?
      while status == nil, let headers = peer.nextHeaders() { status = headers.fields["grpc-status"] }
      #expect(status == sample.code)
      #expect(hostile.abuses.counts == [sample.abuse: 1])
    }
  }

  /// A prefix alone announces the largest message allowed: its memory must not be allocated before the bytes arrive.
  @Test func prefixesThatClaimMuchCostLittle() async throws {
    try await HostilePair.with { hostile async throws in
      let before = residentBytes()
      let peers = try (0..<4).map { _ in try hostile.connect() }
      for peer in peers {
        for index in 0..<100 {
          let stream = UInt32(2 * index + 1)
          peer.headers(stream, FramePeer.call("Get"))
          peer.data(stream, [0] + FramePeer.number(4 << 20))
        }
        peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(peer.next(Kind.ping) != nil)
      }
      // They announce 1600 megabytes in total.
      #expect(residentBytes() - before < 400 << 20)
    }
  }

  /// Each is within the message limit, and takes a thousand times its size in memory.
  @Test func unreadBombsStayCompressed() async throws {
    try await HostilePair.with { hostile async throws in
      let before = residentBytes()
      let peer = try hostile.connect()
      // The server's settings apply from here on: the window is a megabyte.
      peer.send(Kind.settings, 1, 0, [])
      peer.headers(1, FramePeer.call("Deaf", adding: Self.gzip))
      let bomb = Self.zeros(4 << 20 - 64)
      for _ in 0..<200 { peer.data(1, bomb) }
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping) != nil)
      // The first is decompressed on another thread; the others are not touched.
      let server = hostile.pair.server
      await hostile.loop.until {
        server.core.connections.contains {
          $0.serverStreams.contains { $0.flow?.pipe.hasRoom == false }
        }
      }
      // Together they are 800 megabytes. Other tests run at the same time.
      #expect(residentBytes() - before < 400 << 20)
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  private func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 200)
    guard fgets(&line, 200, file) != nil else { return 0 }
    let words = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
    return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
  }
}
