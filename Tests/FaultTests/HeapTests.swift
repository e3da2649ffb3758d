import CHeap
import HTTP2TestSupport
import SwitchboardCall
import SwitchboardText
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Memory limits: hostile peers in each direction, and how much heap they cost, as counted by the allocator in a
/// separate process. The limits are those of `docs/records/ThreatModel.md`.
@Suite(
  .mayBlock,
  .timeLimit(.minutes(5)),
  .enabled(if: heap_is_counted(), "no other allocator can be asked"),
  .serialized
) struct HeapTests {
  private typealias Kind = FramePeer.Kind
  private typealias Limit = HeapLimit

  // MARK: The server, from the network

  struct Flood: Sendable, CustomTestStringConvertible {
    let name: String
    var streams = 1
    var headers: [(String, String)] = []
    var method = "Pause"
    /// The frames that each stream sends.
    let frames: [[UInt8]]
    let bound: Int
    var isText = false
    var testDescription: String { name }

    /// Returns when the server has received it.
    func send(to peer: FramePeer) throws {
      for index in 0..<streams {
        let stream = UInt32(2 * index + 1)
        peer.headers(stream, HeapTests.request("/h/\(method)", headers, isText: isText))
      }
      for frame in frames {
        for index in 0..<streams { peer.data(UInt32(2 * index + 1), frame) }
      }
      if method == "Wait", frames.count == 1 {
        for index in 0..<streams { peer.data(UInt32(2 * index + 1), [], ends: true) }
      }
      try #require(peer.settle())
    }
  }

  static func message(_ byteCount: Int) -> [UInt8] {
    [0] + FramePeer.number(UInt32(byteCount)) + [UInt8](repeating: 7, count: byteCount)
  }

  static func frames(_ message: [UInt8], total: Int, perFrame: Int = 16_000) -> [[UInt8]] {
    let count = max(1, perFrame / message.count)
    let frame = [[UInt8]](repeating: message, count: count).flatMap { $0 }
    return [[UInt8]](repeating: frame, count: total / frame.count)
  }

  /// Sixteen kilobytes of headers by HTTP/2's count, most of which is overhead.
  static let headers = (0..<350).map { ("x\($0)", "1") }

  /// An empty message in Base64, as pages send it.
  private static let emptyText = Array("AAAAAAA=".utf8)

  fileprivate static func request(
    _ path: String,
    _ more: [(String, String)] = [],
    isText: Bool
  ) -> [(String, String)] {
    FramePeer.request(path, more).map { field in
      field.0 == "content-type" && isText ? ("content-type", "application/grpc-web-text") : field
    }
  }

  private static let bomb = compressed(4 << 20 - 64, .gzip)

  /// A message of zeros with its prefix.
  static func compressed(_ byteCount: Int, _ encoding: MessageCompression) -> [UInt8] {
    let packed = Compressor.compress(MessageBuffer([UInt8](repeating: 0, count: byteCount)), encoding)
    return withExtendedLifetime(packed) { Array(packed.unsafeFramedBytes) }
  }

  static let floods = [
    Flood(
      name: "empty messages",
      frames: frames(message(0), total: 1 << 20),
      bound: Limit.stream + 2 * Limit.window
    ),
    Flood(
      name: "messages of one byte",
      frames: frames(message(1), total: 1 << 20),
      bound: Limit.stream + 2 * Limit.window
    ),
    Flood(
      name: "empty messages, a frame for each",
      frames: frames(message(0), total: 200_000, perFrame: 5),
      bound: Limit.stream + 2 * Limit.window
    ),
    Flood(
      name: "empty messages on a hundred streams",
      streams: 100,
      frames: frames(message(0), total: 100_000),
      bound: 100 * (Limit.stream + Limit.call) + 2 * Limit.connection
    ),
    Flood(
      name: "large messages on a hundred streams",
      streams: 100,
      frames: frames(message(15_995), total: 100_000),
      bound: 100 * (Limit.stream + Limit.call) + 2 * Limit.connection
    ),
    Flood(
      name: "messages that are compressed",
      headers: [("grpc-encoding", "gzip")],
      frames: frames(bomb, total: 1 << 20),
      // One message is decompressed at a time, and is then in the buffer.
      bound: Limit.stream + 2 * Limit.window + 2 * (4 << 20)
    ),
    Flood(
      name: "a large compressed message on each of a hundred streams",
      streams: 100,
      headers: [("grpc-encoding", "gzip")],
      frames: [bomb],
      // The connection's buffer of them, and one that is being decompressed, which is copied once.
      bound: 100 * Limit.call + Limit.inflated + 3 * (4 << 20)
    ),
    Flood(
      name: "large compressed requests whose handlers wait",
      streams: 100,
      headers: [("grpc-encoding", "gzip")],
      method: "Wait",
      frames: [bomb],
      // The same, and what the handlers have of them.
      bound: 100 * Limit.call + 2 * Limit.inflated + 4 * (4 << 20)
    ),
    Flood(
      name: "prefixes of large messages on a hundred streams",
      streams: 100,
      frames: [[0] + FramePeer.number(4 << 20)],
      bound: 100 * (Limit.call + Limit.announced)
    ),
    Flood(
      name: "many headers on a hundred streams",
      streams: 100,
      headers: headers,
      frames: [],
      bound: 100 * (Limit.call + Limit.head)
    ),
    Flood(
      name: "a hundred requests whose handlers wait",
      streams: 100,
      method: "Wait",
      frames: [message(0)],
      bound: 100 * Limit.call
    ),
    Flood(
      name: "empty messages as text",
      frames: frames(emptyText, total: 1 << 20),
      bound: Limit.stream + 2 * Limit.window,
      isText: true
    ),
    Flood(
      name: "empty messages as text, a frame for each character",
      frames: frames(emptyText, total: 100_000, perFrame: 8).flatMap { $0.map { [$0] } },
      bound: Limit.stream + 2 * Limit.window,
      isText: true
    ),
    Flood(
      name: "empty messages as text on a hundred streams",
      streams: 100,
      frames: frames(emptyText, total: 100_000),
      bound: 100 * (Limit.stream + Limit.call) + 2 * Limit.connection,
      isText: true
    ),
  ]

  @Test(arguments: floods) func requestsAreBounded(_ flood: Flood) throws {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let peer = try Self.connect(port)
    let before = try subject.held()
    try flood.send(to: peer)
    var held = try subject.held(since: before)
    // Other threads are at work meanwhile.
    if flood.headers.contains(where: { $0.0 == "grpc-encoding" }) {
      for _ in 0..<1000 { held = max(held, try subject.held(since: before)) }
    }
    #expect(held <= flood.bound + Limit.base, "\(held) of \(flood.bound)")
    #expect(held > 0)
  }

  /// A client that has acknowledged the server's settings.
  static func connect(_ port: Int) throws -> FramePeer {
    let peer = try FramePeer(port: port)
    peer.send(Kind.settings, 1, 0, [])
    try #require(peer.settle())
    return peer
  }

  @Test(arguments: [0, 1, 255], [false, true]) func unreadResponsesAreBounded(
    _ byteCount: Int,
    _ isText: Bool
  ) throws {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let peer = try Self.connect(port)
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
    try #require(peer.settle())
    let before = try subject.held()
    for index in 0..<100 {
      let message = [0, 0, 0, 0, 1, UInt8(byteCount)]
      peer.headers(UInt32(2 * index + 1), Self.request("/h/Flood", isText: isText))
      peer.data(UInt32(2 * index + 1), isText ? Base64.encode(message) : message, ends: true)
    }
    for _ in 0..<100 { _ = try #require(peer.next(Kind.headers)) }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    let text = isText ? Limit.text : 0
    #expect(held <= 100 * (Limit.stream + text + Limit.call) + Limit.base, "\(held)")
    // The writers have filled their buffers.
    #expect(held > 100 * Limit.stream / 4)
  }

  /// The windows are open, but the client does not read from the socket.
  @Test func responsesInTheSocketAreBounded() throws {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let peer = try Self.connect(port)
    let before = try subject.held()
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0x7fff_ffff))
    peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(0x7000_0000))
    for index in 0..<100 {
      peer.headers(UInt32(2 * index + 1), FramePeer.request("/h/Flood"))
      peer.data(UInt32(2 * index + 1), [0, 0, 0, 0, 1, 0], ends: true)
    }
    let held = try subject.heldInTheEnd(since: before, atLeast: 100 * Limit.stream / 4)
    #expect(held <= 100 * (Limit.stream + Limit.call) + Limit.base, "\(held)")
  }

  @Test(arguments: [5, 1], [false, true]) func requestsOverHTTP1AreBounded(_ chunk: Int, _ isText: Bool)
    throws
  {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let peer = try RawPeer(port: port)
    let before = try subject.held()
    peer.send(Self.headOfHTTP1("/h/Pause", isText: isText) + Array("transfer-encoding: chunked\r\n\r\n".utf8))
    // Whole messages, as text in chunks of other lengths than the messages have.
    let bytes = [UInt8](repeating: 0, count: 5 * chunk)
    let body = isText ? [[UInt8]](repeating: Self.emptyText, count: 5 * chunk).flatMap { $0 } : bytes
    let pieces: [UInt8] = stride(from: 0, to: body.count, by: chunk).flatMap { start -> [UInt8] in
      Array("\(String(chunk, radix: 16))\r\n".utf8) + body[start..<start + chunk] + [13, 10]
    }
    let batch = [[UInt8]](repeating: pieces, count: 400).flatMap { $0 }
    let sender = MayBlock.task { for _ in 0..<4000 where !peer.send(batch) { break } }
    let held = try subject.heldInTheEnd(since: before, atLeast: Limit.stream / 4)
    // The data of one read in addition to the buffer.
    #expect(held <= Limit.stream + 2 * Limit.share + Limit.call + Limit.base, "\(held)")
    subject.stop()
    _ = sender
  }

  private static func headOfHTTP1(_ path: String, isText: Bool) -> [UInt8] {
    let type = isText ? "application/grpc-web-text" : "application/grpc-web"
    return Array("POST \(path) HTTP/1.1\r\nhost: h\r\ncontent-type: \(type)\r\n".utf8)
  }

  /// The system takes some megabytes of each first, which would be many empty messages.
  @Test(arguments: [false, true]) func unreadResponsesOverHTTP1AreBounded(_ isText: Bool) throws {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let peers = try (0..<4).map { _ in try RawPeer(port: port) }
    let before = try subject.held()
    let message: [UInt8] = [0, 0, 0, 0, 1, 255]
    let body = isText ? Base64.encode(message) : message
    for peer in peers {
      let length = Array("content-length: \(body.count)\r\n\r\n".utf8)
      peer.send(Self.headOfHTTP1("/h/Flood", isText: isText) + length + body)
    }
    let held = try subject.heldInTheEnd(since: before, atLeast: 4 * Limit.stream / 4)
    // Each has its buffer, and what its socket has not accepted.
    #expect(held <= 4 * (Limit.stream + Limit.share + Limit.text + Limit.call) + Limit.base, "\(held)")
    subject.stop()
    _ = peers
  }

  /// Connections that have served a call, and are not used for a second or two.
  @Test func unusedConnectionsOfHTTP1AreSmall() throws {
    let subject = try HeapSubject("serve")
    let port = try subject.port()
    let request = Self.headOfHTTP1("/h/Answer", isText: false) + Array("content-length: 6\r\n\r\n".utf8)
    func connect(_ count: Int) throws -> [RawPeer] {
      let peers = try (0..<count).map { _ in try RawPeer(port: port) }
      for peer in peers {
        peer.send(request + [0, 0, 0, 0, 1, 7])
        #expect(peer.read(12) == Array("HTTP/1.1 200".utf8))
      }
      return peers
    }
    // What the loop keeps for all connections is there before.
    let first = try connect(20)
    let before = try subject.held()
    let peers = try connect(200)
    let held = try subject.heldWhenUnused(atMost: 200 * Limit.idleHTTP1, since: before)
    #expect(held <= 200 * Limit.idleHTTP1, "\(held / 200) a connection")
    #expect(held > 0)
    _ = (first, peers)
  }

  // MARK: The client

  @Test(arguments: [0, 1]) func responsesAreBounded(_ byteCount: Int) throws {
    let listener = try FrameListener()
    let subject = try HeapSubject("call", "\(listener.port)")
    try subject.send("read 50")
    let peer = listener.accept()
    peer.send(Kind.settings, 1, 0, [])
    for _ in 0..<50 { _ = try #require(peer.next(Kind.headers)) }
    try #require(peer.settle())
    let before = try subject.held()
    for index in 0..<50 {
      peer.headers(UInt32(2 * index + 1), [(":status", "200"), ("content-type", "application/grpc")])
    }
    for frame in Self.frames(Self.message(byteCount), total: 160_000) {
      for index in 0..<50 { peer.data(UInt32(2 * index + 1), frame) }
    }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= 50 * (Limit.stream + Limit.call) + 2 * Limit.connection + Limit.base, "\(held)")
    #expect(held > 50 * Limit.stream / 4)
  }

  @Test func unreadRequestsAreBounded() throws {
    let listener = try FrameListener()
    let subject = try HeapSubject("call", "\(listener.port)")
    try subject.send("write 1")
    let peer = listener.accept()
    peer.send(Kind.settings, 1, 0, [])
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
    _ = try #require(peer.next(Kind.headers))
    try #require(peer.settle())
    let before = try subject.held()
    try subject.send("write 49")
    for _ in 0..<49 { _ = try #require(peer.next(Kind.headers)) }
    let held = try subject.heldInTheEnd(since: before, atLeast: 49 * Limit.stream / 4)
    // Messages that may have to be sent again are also kept.
    #expect(held <= 50 * (2 * Limit.stream + Limit.call) + Limit.base, "\(held)")
  }

  @Test(arguments: ["read 50", "write 50"]) func inProcessCallsAreBounded(_ calls: String) throws {
    let subject = try HeapSubject("inprocess")
    let before = try subject.held()
    try subject.send(calls)
    let held = try subject.heldInTheEnd(since: before, atLeast: 50 * Limit.stream / 4)
    #expect(held <= 50 * (2 * Limit.stream + Limit.call) + Limit.base, "\(held)")
  }
}
