import CHeap
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

/// A server to which the system refuses memory. An allocation that Swift makes and that fails ends the process, so what
/// peers announce must not be allocated, and what they send must stay within the limits of `docs/records/ThreatModel.md`.
@Suite(
  .mayBlock,
  .timeLimit(.minutes(5)),
  .enabled(if: heap_is_counted(), "no other allocator can be replaced"),
  .serialized
) struct ScarceMemoryTests {
  private typealias Kind = FramePeer.Kind

  /// The server answers another client.
  private func expectAnswer(_ port: Int) throws {
    let other = try FramePeer(port: port)
    try #require(other.settle())
    other.headers(1, FramePeer.request("/h/Flood"))
    other.data(1, [0, 0, 0, 0, 1, 3], ends: true)
    #expect(other.next(Kind.data)?.payload.prefix(8) == [0, 0, 0, 0, 3, 0, 0, 0])
  }

  /// They announce 1.6 GB, or 1.6 TB where requests have no limit.
  @Test(arguments: ScarceMemory.allCases, [false, true])
  func announcedMessagesTakeNoMemory(_ memory: ScarceMemory, _ isBoundless: Bool) throws {
    let subject = try HeapSubject("serve", isBoundless ? "boundless" : "", memory: memory)
    let port = try subject.port()
    let peers = try (0..<4).map { _ in try FramePeer(port: port) }
    for peer in peers {
      for index in 0..<100 {
        let stream = UInt32(2 * index + 1)
        peer.headers(stream, FramePeer.request("/h/Pause"))
        peer.data(stream, [0] + FramePeer.number(isBoundless ? .max : 4 << 20))
      }
      try #require(peer.settle())
    }
    try expectAnswer(port)
    withExtendedLifetime(peers) {}
  }

  /// Announced to TLS, before anything is known of a client.
  @Test(arguments: ScarceMemory.allCases) func announcedHandshakesAreRefused(_ memory: ScarceMemory) throws {
    let subject = try HeapSubject("serve", "tls", memory: memory)
    let port = try subject.port()
    let peers = try (0..<50).map { _ in try RawPeer(port: port) }
    for peer in peers { peer.send(TLSHeapTests.longHello) }
    let other = try TLSHeapTests.connect(port)
    #expect(other.settle())
    withExtendedLifetime(peers) {}
  }

  /// The most that one client may make the server hold, in each way.
  @Test(arguments: HeapTests.floods, ScarceMemory.allCases)
  func floodsDoNotEndTheProcess(_ flood: HeapTests.Flood, _ memory: ScarceMemory) throws {
    let subject = try HeapSubject("serve", memory: memory)
    let port = try subject.port()
    let peer = try HeapTests.connect(port)
    try flood.send(to: peer)
    // Other threads may be at work.
    for _ in 0..<100 { _ = try subject.held() }
    try expectAnswer(port)
    withExtendedLifetime(peer) {}
  }

  /// A message within the limit, of which the decoder cannot allocate the window.
  @Test(arguments: [MessageCompression.zstd, .brotli])
  func messagesAreRefusedWhereTheirDecoderHasNoMemory(_ encoding: MessageCompression) throws {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let peer = try HeapTests.connect(port)
    try subject.send("refuse \(128 << 10)")
    peer.headers(1, FramePeer.request("/h/Pause", [("grpc-encoding", encoding.rawValue)]))
    peer.data(1, HeapTests.compressed(1 << 20, encoding))
    let trailers = peer.nextHeaders()?.fields
    #expect(trailers?["grpc-status"] == "8", "\(trailers ?? [:])")
    #expect(trailers?["grpc-message"] == "there is no memory to decompress a message")
    try expectAnswer(port)
  }

  /// A message above the limit is refused, however it is sent, and the same connection serves other calls.
  @Test(arguments: ScarceMemory.allCases, MessageCompression.allCases)
  func messagesAboveTheLimitAreRefused(_ memory: ScarceMemory, _ encoding: MessageCompression) throws {
    let subject = try HeapSubject("serve", memory: memory)
    let port = try subject.port()
    let peer = try HeapTests.connect(port)
    peer.headers(1, FramePeer.request("/h/Pause", [("grpc-encoding", encoding.rawValue)]))
    // Without compression the prefix is enough.
    let whole =
      encoding == .none ? [0] + FramePeer.number(64 << 20) : HeapTests.compressed(64 << 20, encoding)
    for start in stride(from: 0, to: whole.count, by: 16_000) {
      peer.data(1, Array(whole[start..<min(start + 16_000, whole.count)]))
    }
    let trailers = peer.nextHeaders()?.fields
    #expect(trailers?["grpc-status"] == "8", "\(trailers ?? [:])")
    peer.headers(3, FramePeer.request("/h/Flood"))
    peer.data(3, [0, 0, 0, 0, 1, 3], ends: true)
    #expect(peer.next(Kind.data)?.payload.prefix(8) == [0, 0, 0, 0, 3, 0, 0, 0])
    try expectAnswer(port)
  }
}
