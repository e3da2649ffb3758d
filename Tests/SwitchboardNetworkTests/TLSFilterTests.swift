import CertificateSupport
import HTTP2TestSupport
import SwitchboardCall
import TLSSupport
import Testing

@testable import SwitchboardNetwork

/// One end of TLS in memory, with OpenSSL as the peer.
@Suite struct TLSFilterTests {
  enum Side: CaseIterable { case server, client }

  /// An end and its peer.
  private final class Ends {
    let filter: TLSFilter
    let peer: TLSPeer
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    /// The filter is packed whenever it is not in use.
    private let isPacked: Bool
    var events: [String] = []
    var plaintext: [UInt8] = []
    var endings: [TLSFilter.Received] = []

    init(_ side: Side, _ version: TLSVersion, protocols: [String] = ["h2"], arenas: ArenaSlabs? = nil) throws
    {
      let context =
        side == .server
        ? try TLSContext(server: ServerTLS(credentials: TestCertificates.server), allowsHTTP1: false)
        : try TLSContext(client: ClientTLS(trustRoots: TestCertificates.authority), serverName: "localhost")
      filter = try #require(TLSFilter(context, arenas: arenas))
      isPacked = arenas != nil
      peer = try TLSPeer(side == .server ? .client : .server, version: version, protocols: protocols)
    }

    deinit { memory.deallocate() }

    /// Packs the filter, if the test packs filters.
    func packIfNeeded() {
      guard isPacked else { return }
      filter.pack()
      #expect(filter.isPacked)
    }

    func feed(_ bytes: [UInt8], continues: Bool = true) {
      packIfNeeded()
      let received = bytes.withUnsafeBytes { bytes in
        filter.receive(bytes, buffer: memory) { event in
          switch event {
          case .becameSecure: events.append("secure")
          case .plaintext(let bytes):
            events.append("data")
            plaintext += bytes
          }
          return continues
        }
      }
      if case .open = received { return }
      endings.append(received)
    }

    func pending() -> [UInt8] {
      let output = OutputBuffer()
      filter.takePending(into: output)
      return output.bytes
    }

    func encrypt(_ bytes: [UInt8]) -> (GRPCStatus?, [UInt8]) {
      packIfNeeded()
      let (plain, encrypted) = (OutputBuffer(), OutputBuffer())
      bytes.withUnsafeBytes { plain.append($0) }
      return (filter.send(plain, into: encrypted), encrypted.bytes)
    }

    func shakeHands() {
      packIfNeeded()
      filter.handshake()
      peer.shakeHands()
      for _ in 0..<4 {
        feed(peer.takeOutput())
        peer.take(pending())
      }
    }
  }

  private static let both = [TLSVersion.tls12, .tls13]

  @Test(arguments: Side.allCases, both) func plaintextArrives(_ side: Side, _ version: TLSVersion) throws {
    try Self.exchange(try Ends(side, version))
  }

  private static func exchange(_ ends: Ends) throws {
    ends.shakeHands()
    try #require(ends.filter.isSecure && ends.peer.isSecure)
    let words = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let (failure, encrypted) = ends.encrypt(words)
    #expect(failure == nil)
    ends.peer.take(encrypted)
    #expect(ends.peer.read() == words)
    ends.peer.write(words)
    // In pieces that do not match records.
    var rest = ends.peer.takeOutput()[...]
    while !rest.isEmpty {
      ends.feed(Array(rest.prefix(9973)))
      rest = rest.dropFirst(9973)
    }
    #expect(ends.plaintext == words)
    #expect(ends.events.first == "secure")
    // Records that arrive in pieces are not idle.
    #expect(ends.filter.takeIdleRecords() == 0)
  }

  /// What OpenSSL keeps for a connection is packed, also during the handshake.
  @Test(arguments: Side.allCases, both) func aPackedFilterCanContinue(_ side: Side, _ version: TLSVersion)
    throws
  {
    try #require(OpenSSL.borrowsMemory)
    let slabs = ArenaSlabs(arenaSize: ArenaSlabs.arenaSizeOfTLS)
    // Each in the arena of the one before.
    for _ in 0..<3 {
      let ends = try Ends(side, version, arenas: slabs)
      // Two pages at most.
      let untouched = slabs.untouchedByteCount
      try Self.exchange(ends)
      ends.packIfNeeded()
      #expect(slabs.untouchedByteCount >= untouched + 4096)
      #expect(ends.filter.security?.cipherSuite.isEmpty == false)
      #expect(!ends.filter.isPacked)
      ends.packIfNeeded()
    }
    let arena = try #require(slabs.take())
    defer { slabs.giveBack(arena) }
    #expect(UnsafeRawBufferPointer(start: arena.base, count: arena.size).allSatisfy { $0 == 0 })
  }

  @Test func aPackedFilterFails() throws {
    let ends = try Ends(.server, .tls13, arenas: ArenaSlabs(arenaSize: ArenaSlabs.arenaSizeOfTLS))
    ends.shakeHands()
    ends.feed(SecurePeer.brokenRecord)
    guard case .failed? = ends.endings.first else { return #expect(Bool(false), "it has not failed") }
    #expect(!ends.pending().isEmpty)
  }

  /// In an arena that is too small, it lies in memory of the system.
  @Test func aFilterLargerThanItsArenaWorks() throws {
    let slabs = ArenaSlabs(arenaSize: 4096)
    try Self.exchange(try Ends(.server, .tls13, arenas: slabs))
    let untouched = slabs.untouchedByteCount
    try Self.exchange(try Ends(.client, .tls13, arenas: slabs))
    #expect(slabs.untouchedByteCount == untouched)
  }

  /// The last reference to a connection may be released on any thread.
  @Test func aFilterEndsOnAnotherThread() async throws {
    let slabs = ArenaSlabs(arenaSize: ArenaSlabs.arenaSizeOfTLS)
    let loop = try #require(Loop())
    try #require(DetachedThread.start { loop.run() })
    defer { loop.stop() }
    for _ in 0..<20 {
      let ends = try Ends(.server, .tls13, arenas: slabs)
      ends.shakeHands()
      ends.packIfNeeded()
      nonisolated(unsafe) var last: Ends? = consume ends
      await loop.onLoop { _ = last.take() }
    }
  }

  @Test(arguments: Side.allCases, both) func nothingHappensAfterAFailure(_ side: Side, _ version: TLSVersion)
    throws
  {
    let ends = try Ends(side, version)
    ends.shakeHands()
    ends.peer.write([1, 2, 3])
    let good = ends.peer.takeOutput()
    ends.feed(good + SecurePeer.brokenRecord + good)
    #expect(ends.plaintext.isEmpty)
    #expect(ends.endings.count == 1)
    guard case .failed? = ends.endings.first else { return #expect(Bool(false), "it has not failed") }
    #expect(!ends.filter.isSecure)
    // It has sent an alert.
    #expect(!ends.pending().isEmpty)
    let (failure, encrypted) = ends.encrypt([1, 2, 3])
    #expect(failure == nil && encrypted.isEmpty)
    ends.peer.write([4, 5, 6])
    ends.feed(ends.peer.takeOutput())
    ends.feed([])
    #expect(ends.plaintext.isEmpty && ends.endings.count == 1 && ends.pending().isEmpty)
  }

  @Test(arguments: Side.allCases, both) func theEndIsReportedOnce(_ side: Side, _ version: TLSVersion) throws
  {
    let ends = try Ends(side, version)
    ends.shakeHands()
    ends.peer.write([1, 2, 3])
    ends.peer.end()
    let bytes = ends.peer.takeOutput()
    ends.feed(bytes)
    ends.feed(bytes)
    #expect(ends.plaintext == [1, 2, 3])
    #expect(ends.endings.count == 1)
    guard case .ended? = ends.endings.first else { return #expect(Bool(false), "it has not ended") }
    #expect(ends.encrypt([1]).1.isEmpty)
  }

  @Test func aStoppedReaderReceivesNothingMore() throws {
    let ends = try Ends(.server, .tls13)
    ends.shakeHands()
    for _ in 0..<20 { ends.peer.write([UInt8](repeating: 1, count: 16384)) }
    ends.feed(ends.peer.takeOutput(), continues: false)
    #expect(ends.events.count == 2)
    #expect(ends.plaintext.count < 20 * 16384)
  }

  @Test(arguments: Side.allCases) func recordsWithoutDataAreCounted(_ side: Side) throws {
    let ends = try Ends(side, .tls13)
    ends.shakeHands()
    // A handshake and a little more is free.
    #expect(ends.filter.takeIdleRecords() == 0)
    for _ in 0..<TLSFilter.recordsOfHandshake + 100 { ends.peer.updateKey() }
    ends.peer.write([1])
    ends.feed(ends.peer.takeOutput())
    #expect((100...120).contains(ends.filter.takeIdleRecords()))
    #expect(ends.plaintext == [1])
    #expect(ends.filter.pendingByteCount > 1000)
    for _ in 0..<100 {
      ends.peer.write([1])
      ends.feed(ends.peer.takeOutput())
    }
    #expect(ends.filter.takeIdleRecords() == 0)
    for _ in 0..<100 {
      ends.peer.updateKey(asking: false)
      ends.feed(ends.peer.takeOutput())
    }
    #expect((99...101).contains(ends.filter.takeIdleRecords()))
  }

  /// It is answered with an alert, which waits to be read like other output, and counts like other records without
  /// data.
  @Test func anotherHandshakeIsRefused() throws {
    let ends = try Ends(.server, .tls12)
    ends.shakeHands()
    ends.peer.renegotiate()
    let hello = ends.peer.takeOutput()
    try #require(!hello.isEmpty)
    ends.feed(hello)
    #expect(ends.filter.isSecure && ends.endings.isEmpty)
    let answer = ends.pending()
    #expect((1...100).contains(answer.count) && answer.first == 0x15)
  }

  /// A connection that was busy uses no more memory than one that was not.
  @Test func processedDataIsNotRetained() throws {
    let ends = try Ends(.server, .tls13)
    ends.shakeHands()
    for _ in 0..<2000 { ends.peer.updateKey() }
    ends.feed(ends.peer.takeOutput())
    #expect(ends.filter.pendingByteCount > 40_000)
    #expect(ends.pending().count > 40_000)
    #expect(ends.filter.pendingByteCount == 0)
  }
}

extension OutputBuffer {
  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    forEachPiece { bytes += $0 }
    return bytes
  }
}
