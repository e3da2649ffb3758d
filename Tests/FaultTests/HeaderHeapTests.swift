import CHeap
import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Memory limits of a client whose server sends floods of headers.
@Suite(
  .mayBlock,
  .timeLimit(.minutes(5)),
  .enabled(if: heap_is_counted(), "no other allocator can be asked"),
  .serialized
) struct HeaderHeapTests {
  private typealias Kind = FramePeer.Kind
  private typealias Limit = HeapLimit

  private static let first = [(":status", "200"), ("content-type", "application/grpc")]
  private static let last = [("grpc-status", "5")]
  private static let long = String(repeating: "%41", count: 5000)

  struct Flood: Sendable, CustomTestStringConvertible {
    let name: String
    /// The header blocks on each stream; `true` ends it.
    let blocks: [(fields: [(String, String)], ends: Bool)]
    /// How much a call may keep of them.
    let bound: Int
    var testDescription: String { name }
  }

  /// Each block has almost sixteen kilobytes by HTTP/2's count.
  private static let floods = [
    Flood(name: "many headers", blocks: [(first + HeapTests.headers, false)], bound: Limit.head),
    Flood(
      name: "many headers and trailers",
      blocks: [(first + HeapTests.headers, false), (last + HeapTests.headers, true)],
      bound: 2 * Limit.head
    ),
    Flood(
      name: "many trailers without headers",
      blocks: [(first + last + HeapTests.headers, true)],
      bound: Limit.head
    ),
    Flood(
      name: "a long message of a status",
      blocks: [(first + last + [("grpc-message", long)], true)],
      bound: 2 * Limit.head
    ),
    Flood(
      name: "long details of a status",
      blocks: [(first + last + [("grpc-status-details-bin", String(repeating: "A", count: 15_000))], true)],
      bound: 2 * Limit.head
    ),
    Flood(
      name: "informational headers",
      blocks: (0..<15).map { _ in ([(":status", "103")] + HeapTests.headers, false) },
      bound: 0
    ),
    Flood(
      name: "headers above the limit",
      blocks: [(first + HeapTests.headers + HeapTests.headers, false)],
      bound: 0
    ),
  ]

  @Test(arguments: floods) func headersOfCallsAreBounded(_ flood: Flood) throws {
    let listener = try FrameListener()
    let subject = try HeapSubject("call", "\(listener.port)")
    try subject.send("keep 50")
    let peer = listener.accept()
    peer.send(Kind.settings, 1, 0, [])
    for _ in 0..<50 { _ = try #require(peer.next(Kind.headers)) }
    try #require(peer.settle())
    let before = try subject.held()
    for block in flood.blocks {
      for index in 0..<50 { peer.headers(UInt32(2 * index + 1), block.fields, ends: block.ends) }
    }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= 50 * (Limit.call + flood.bound) + Limit.base, "\(held)")
    // Many small fields take less than they are counted as.
    if flood.bound > 0 { #expect(held > 50 * Limit.head / 8, "\(held)") }
  }

  /// Fields that go into the table of HPACK, which the client keeps as large as it announced.
  @Test func hpackTablesAreBounded() throws {
    let listener = try FrameListener()
    let subject = try HeapSubject("call", "\(listener.port)")
    try subject.send("keep 1")
    let peer = listener.accept()
    peer.send(Kind.settings, 1, 0, [])
    _ = try #require(peer.next(Kind.headers))
    try #require(peer.settle())
    let before = try subject.held()
    for round in 0..<100 {
      let block: [UInt8] = (0..<300).flatMap { index -> [UInt8] in
        [0x40] + FramePeer.string("x\(round)-\(index)") + FramePeer.string("1")
      }
      peer.send(Kind.headers, 4, 1, FramePeer.block([(":status", "103")]) + block)
    }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= Limit.call + Limit.base, "\(held)")
  }
}
