import CHeap
import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TLSSupport
import TestSupport
import Testing

/// Memory limits below HTTP/2: what the other end of TLS makes a process hold, with the worst records for their size.
@Suite(
  .mayBlock,
  .timeLimit(.minutes(5)),
  .enabled(if: heap_is_counted(), "no other allocator can be asked"),
  .serialized
) struct TLSHeapTests {
  private typealias Kind = FramePeer.Kind
  private typealias Limit = HeapLimit

  /// Below the allowance of a connection.
  private static let records = 900

  static func connect(_ port: Int, _ version: TLSVersion = .tls13) throws -> SecurePeer {
    let peer = try SecurePeer(port: port, version)
    peer.say(SecurePeer.preface)
    try #require(peer.settle())
    return peer
  }

  // MARK: The server

  @Test(arguments: [TLSVersion.tls12, .tls13]) func unusedConnectionsAreBounded(_ version: TLSVersion) throws
  {
    let subject = try HeapSubject("serve", "tls")
    let port = try subject.port()
    let before = try subject.held()
    let peers = try (0..<50).map { _ in try Self.connect(port, version) }
    let held = try subject.held(since: before)
    #expect(held <= 50 * Limit.idleTLS + Limit.base, "\(held)")
    #expect(held > 0)
    _ = peers
  }

  /// What OpenSSL has is packed only if the application lets it use our allocator.
  @Test(arguments: [
    (words: ["serve", "tls"], limit: Limit.restingTLS), (["serve", "tls", "packing"], Limit.packedTLS),
  ])
  func idleConnectionsAreBounded(_ words: [String], _ limit: Int) throws {
    let subject = try HeapSubject(words)
    let port = try subject.port()
    // What a loop needs once.
    var peers = [try Self.connect(port)]
    try subject.send("idle")
    let before = try subject.held()
    peers += try (0..<50).map { _ in try Self.connect(port) }
    try subject.send("idle")
    let held = try subject.held(since: before)
    #expect(held <= 50 * limit, "\(held / 50) each")
    #expect(held > 0)
  }

  /// The first record of a ClientHello that announces the longest.
  static let longHello: [UInt8] = {
    let length = 0x02_0144
    let hello = [
      0x16, 3, 1, 0x10, 0, 1, UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), 3, 3,
    ]
    return hello + [UInt8](repeating: 0, count: 4096 - 6)
  }()

  /// OpenSSL makes room for what a message's length announces.
  @Test func announcedClientHellosAreBounded() throws {
    let subject = try HeapSubject("serve", "tls")
    let port = try subject.port()
    let before = try subject.held()
    let peers = try (0..<50).map { _ in try RawPeer(port: port) }
    for peer in peers { peer.send(Self.longHello) }
    let held = try subject.heldInTheEnd(since: before, atLeast: 50 * (16 << 10))
    #expect(held <= 50 * Limit.handshake + Limit.base, "\(held)")
    _ = peers
  }

  @Test(arguments: [true, false]) func keyUpdatesAreBounded(_ asks: Bool) throws {
    let subject = try HeapSubject("serve", "tls")
    let port = try subject.port()
    let before = try subject.held()
    let peers = try (0..<20).map { _ in try Self.connect(port) }
    for peer in peers {
      for _ in 0..<Self.records { peer.tls.updateKey(asking: asks) }
      peer.flush()
    }
    for peer in peers { try #require(peer.settle()) }
    let held = try subject.held(since: before)
    #expect(held <= 20 * Limit.idleTLS + Limit.base, "\(held)")
  }

  /// The client reads nothing: neither a response without end, nor the answers to its key updates.
  @Test func unreadAnswersAreBounded() throws {
    let subject = try HeapSubject("serve", "tls", "patient")
    let port = try subject.port()
    let peer = try Self.connect(port)
    let before = try subject.held()
    peer.say(
      FramePeer.frame(Kind.settings, 0, 0, [0, 4, 0x7f, 0xff, 0xff, 0xff])
        + FramePeer.frame(Kind.windowUpdate, 0, 0, [0x7f, 0xff, 0, 0])
        + FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.request("/h/Flood")))
        + FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 1, 255])
    )
    var held = try subject.heldInTheEnd(since: before, atLeast: Limit.stream / 4)
    let isOver = Locked(false)
    // Nobody else uses the peer meanwhile.
    nonisolated(unsafe) let sender = peer
    let sending = MayBlock.task {
      repeat {
        for _ in 0..<100 { sender.tls.updateKey() }
      } while sender.flush()
      isOver.withLock { $0 = true }
    }
    while !isOver.withLock({ $0 }) { held = max(held, try subject.held(since: before)) }
    let limit = Limit.stream + Limit.call + 2 * Limit.share + Limit.unreadTLS + Limit.base
    #expect(held <= limit, "\(held)")
    _ = sending
  }

  @Test func emptyMessagesInOneByteRecordsAreBounded() throws {
    let subject = try HeapSubject("serve", "tls")
    let port = try subject.port()
    let peer = try Self.connect(port)
    let before = try subject.held()
    peer.say(FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.request("/h/Pause"))))
    let batch = FramePeer.frame(Kind.data, 0, 1, [UInt8](repeating: 0, count: 5 * 200))
    for _ in 0..<50 {
      for byte in batch { peer.tls.write([byte]) }
      peer.flush()
    }
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= Limit.stream + 2 * Limit.window + Limit.base, "\(held)")
    #expect(held > Limit.stream / 4)
  }

  // MARK: The client

  @Test(arguments: ["keys", "tickets"]) func serverRecordsAreBounded(_ what: String) throws {
    let listener = try FrameListener()
    let subject = try HeapSubject("call", "\(listener.port)", "tls")
    try subject.send("read 1")
    let peer = try SecurePeer(serving: listener.acceptRaw())
    try #require(peer.settle())
    let before = try subject.held()
    for _ in 0..<Self.records { if what == "keys" { peer.tls.updateKey() } else { peer.tls.sendTicket() } }
    peer.flush()
    try #require(peer.settle())
    let held = try subject.held(since: before)
    #expect(held <= Limit.idleTLS, "\(held)")
  }
}
