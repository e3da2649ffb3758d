import CHeap
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardHTTP2

/// Memory limits: hostile peers in each direction, and how much heap they cost, as counted by the allocator in a
/// separate process. The limits are those of `docs/ThreatModel.md`.
@Suite(
  .mayBlock,
  .timeLimit(.minutes(2)),
  .enabled(if: heap_is_counted(), "no other allocator can be asked"),
  .serialized
) struct HeapTests {
  private typealias Kind = FramePeer.Kind

  /// The memory for messages in transit: the stream's buffer.
  private static let stream = 256 << 10
  private static let window = 1 << 20
  /// The memory for unread data on a connection of the subject, with the window that is open meanwhile.
  private static let connection = (8 << 20) + (4 << 20)
  /// The memory of a call without its messages.
  private static let call = 16 << 10
  /// The memory of a connection without its calls: its buffers, those of OpenSSL and nghttp2 including their growth,
  /// and data that a loop has read.
  private static let base = 1 << 20

  // MARK: The server, from the network

  struct Flood: Sendable, CustomTestStringConvertible {
    let name: String
    var streams = 1
    var headers: [(String, String)] = []
    var method = "Pause"
    /// The frames that each stream sends.
    let frames: [[UInt8]]
    let bound: Int
    var testDescription: String { name }
  }

  private static func message(_ byteCount: Int) -> [UInt8] {
    [0] + FramePeer.number(UInt32(byteCount)) + [UInt8](repeating: 7, count: byteCount)
  }

  private static func frames(_ message: [UInt8], total: Int, perFrame: Int = 16_000) -> [[UInt8]] {
    let count = max(1, perFrame / message.count)
    let frame = [[UInt8]](repeating: message, count: count).flatMap { $0 }
    return [[UInt8]](repeating: frame, count: total / frame.count)
  }

  /// Sixteen kilobytes of headers by HTTP/2's count, most of which is overhead.
  private static let headers = (0..<350).map { ("x\($0)", "1") }

  private static let bomb: [UInt8] = {
    let packed = Compressor.compress(MessageBuffer([UInt8](repeating: 0, count: 4 << 20 - 64)), .gzip)
    return withExtendedLifetime(packed) { Array(packed.unsafeFramedBytes) }
  }()

  private static let floods = [
    Flood(name: "empty messages", frames: frames(message(0), total: 1 << 20), bound: stream + 2 * window),
    Flood(
      name: "messages of one byte",
      frames: frames(message(1), total: 1 << 20),
      bound: stream + 2 * window
    ),
    Flood(
      name: "empty messages, a frame for each",
      frames: frames(message(0), total: 200_000, perFrame: 5),
      bound: stream + 2 * window
    ),
    Flood(
      name: "empty messages on a hundred streams",
      streams: 100,
      frames: frames(message(0), total: 100_000),
      bound: 100 * (stream + call) + 2 * connection
    ),
    Flood(
      name: "large messages on a hundred streams",
      streams: 100,
      frames: frames(message(15_995), total: 100_000),
      bound: 100 * (stream + call) + 2 * connection
    ),
    Flood(
      name: "messages that are compressed",
      headers: [("grpc-encoding", "gzip")],
      frames: frames(bomb, total: 1 << 20),
      // One message is decompressed at a time, and is then in the buffer.
      bound: stream + 2 * window + 2 * (4 << 20)
    ),
    Flood(
      name: "many headers on a hundred streams",
      streams: 100,
      headers: headers,
      frames: [],
      bound: 100 * (call + (32 << 10))
    ),
    Flood(
      name: "a hundred requests whose handlers wait",
      streams: 100,
      method: "Wait",
      frames: [message(0)],
      bound: 100 * call
    ),
  ]

  @Test(arguments: floods) func requests(_ flood: Flood) throws {
    let subject = try HeapSubject(["heap", "serve"])
    let port = try #require(subject.line().flatMap { Int($0) })
    let peer = try Self.connect(port)
    let before = try subject.held()
    for index in 0..<flood.streams {
      let stream = UInt32(2 * index + 1)
      peer.headers(stream, FramePeer.request("/h/\(flood.method)", flood.headers))
    }
    for frame in flood.frames {
      for index in 0..<flood.streams { peer.data(UInt32(2 * index + 1), frame) }
    }
    if flood.method == "Wait", flood.frames.count == 1 {
      for index in 0..<flood.streams { peer.data(UInt32(2 * index + 1), [], ends: true) }
    }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= flood.bound + Self.base, "\(held) of \(flood.bound)")
    #expect(held > 0)
  }

  /// A client that has acknowledged the server's settings.
  private static func connect(_ port: Int) throws -> FramePeer {
    let peer = try FramePeer(port: port)
    peer.send(Kind.settings, 1, 0, [])
    try #require(peer.settle())
    return peer
  }

  @Test(arguments: [0, 1, 255]) func unreadResponses(_ byteCount: Int) throws {
    let subject = try HeapSubject(["heap", "serve"])
    let port = try #require(subject.line().flatMap { Int($0) })
    let peer = try Self.connect(port)
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
    try #require(peer.settle())
    let before = try subject.held()
    for index in 0..<100 {
      peer.headers(UInt32(2 * index + 1), FramePeer.request("/h/Flood"))
      peer.data(UInt32(2 * index + 1), [0, 0, 0, 0, 1, UInt8(byteCount)], ends: true)
    }
    for _ in 0..<100 { _ = try #require(peer.next(Kind.headers)) }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= 100 * (Self.stream + Self.call) + Self.base, "\(held)")
    // The writers have filled their buffers.
    #expect(held > 100 * Self.stream / 4)
  }

  /// The windows are open, but the client does not read from the socket.
  @Test func responsesInTheSocket() throws {
    let subject = try HeapSubject(["heap", "serve"])
    let port = try #require(subject.line().flatMap { Int($0) })
    let peer = try Self.connect(port)
    let before = try subject.held()
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0x7fff_ffff))
    peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(0x7000_0000))
    for index in 0..<100 {
      peer.headers(UInt32(2 * index + 1), FramePeer.request("/h/Flood"))
      peer.data(UInt32(2 * index + 1), [0, 0, 0, 0, 1, 0], ends: true)
    }
    let held = try heldInTheEnd(subject, since: before, atLeast: 100 * Self.stream / 4)
    #expect(held <= 100 * (Self.stream + Self.call) + Self.base, "\(held)")
  }

  @Test(arguments: [5, 1]) func requestsOfHTTP1(_ chunk: Int) throws {
    let subject = try HeapSubject(["heap", "serve"])
    let port = try #require(subject.line().flatMap { Int($0) })
    let peer = try RawPeer(port: port)
    let before = try subject.held()
    peer.send(
      Array(
        "POST /h/Pause HTTP/1.1\r\nhost: h\r\ncontent-type: application/grpc-web\r\ntransfer-encoding: chunked\r\n\r\n"
          .utf8
      )
    )
    let piece =
      Array("\(String(chunk, radix: 16))\r\n".utf8) + [UInt8](repeating: 0, count: chunk) + [13, 10]
    let batch = [[UInt8]](repeating: piece, count: 2000).flatMap { $0 }
    let sender = MayBlock.task { for _ in 0..<4000 where !peer.send(batch) { break } }
    let held = try heldInTheEnd(subject, since: before, atLeast: Self.stream / 4)
    // The data of one read in addition to the buffer.
    #expect(held <= Self.stream + 2 * (256 << 10) + Self.call + Self.base, "\(held)")
    subject.stop()
    _ = sender
  }

  // MARK: The client

  @Test(arguments: [0, 1]) func responses(_ byteCount: Int) throws {
    let listener = try FrameListener()
    let subject = try HeapSubject(["heap", "call", "\(listener.port)"])
    try subject.tell("read 50")
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
    #expect(held <= 50 * (Self.stream + Self.call) + 2 * Self.connection + Self.base, "\(held)")
    #expect(held > 50 * Self.stream / 4)
  }

  @Test func unreadRequests() throws {
    let listener = try FrameListener()
    let subject = try HeapSubject(["heap", "call", "\(listener.port)"])
    try subject.tell("write 1")
    let peer = listener.accept()
    peer.send(Kind.settings, 1, 0, [])
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
    _ = try #require(peer.next(Kind.headers))
    try #require(peer.settle())
    let before = try subject.held()
    try subject.tell("write 49")
    for _ in 0..<49 { _ = try #require(peer.next(Kind.headers)) }
    let held = try heldInTheEnd(subject, since: before, atLeast: 49 * Self.stream / 4)
    // Messages that may have to be sent again are also kept.
    #expect(held <= 50 * (2 * Self.stream + Self.call) + Self.base, "\(held)")
  }

  @Test(arguments: ["read 50", "write 50"]) func withinTheProcess(_ calls: String) throws {
    let subject = try HeapSubject(["heap", "inprocess"])
    let before = try subject.held()
    try subject.tell(calls)
    let held = try heldInTheEnd(subject, since: before, atLeast: 50 * Self.stream / 4)
    #expect(held <= 50 * (2 * Self.stream + Self.call) + Self.base, "\(held)")
  }

  /// If the peer receives no signal: waits until this much is held, and then for enough turns of the loop that an
  /// unlimited writer would go far beyond.
  private func heldInTheEnd(_ subject: HeapSubject, since before: Int, atLeast least: Int) throws -> Int {
    var held = 0
    while held <= least { held = try subject.held(since: before) }
    for _ in 0..<200 { held = max(held, try subject.held(since: before)) }
    return held
  }
}

/// `FaultSubject` as a process that reports its heap.
private final class HeapSubject {
  private let process: ChildProcess

  init(_ words: [String]) throws {
    let path = Command.path(ofProduct: "FaultSubject")
    // Thread caches count as used memory, so they are disabled.
    process = try ChildProcess("/usr/bin/env", ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0", path] + words)
  }

  func line() -> String? { process.line() }

  func stop() { process.stop() }

  func tell(_ words: String) throws {
    process.write(words + "\n")
    #expect(process.line() == "done")
  }

  func held(since before: Int = 0) throws -> Int {
    process.write("held\n")
    return try #require(process.line().flatMap { Int($0) }) - before
  }
}
