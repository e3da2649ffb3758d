import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TLSSupport
import TestSupport
import Testing

/// Attacks below HTTP/2, after the handshake.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TLSRecordTests {
  private typealias Kind = FramePeer.Kind

  // MARK: Clients

  /// The data before a record that breaks the connection, in the same piece.
  private static let lastWords: [[UInt8]] = [
    [UInt8](repeating: 0, count: 24), SecurePeer.preface, [],
    SecurePeer.preface + FramePeer.frame(Kind.headers, 5, 1, FramePeer.block(FramePeer.call("Get"))),
    SecurePeer.preface + FramePeer.frame(Kind.ping, 0, 0, [UInt8](repeating: 0, count: 8)),
  ]

  @Test(arguments: [TLSVersion.tls12, .tls13], lastWords) func aBrokenRecordEndsTheConnection(
    _ version: TLSVersion,
    _ words: [UInt8]
  ) async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let peer = try SecurePeer(hostile.pair.address, version)
      peer.tls.write(words)
      peer.flush(SecurePeer.brokenRecord)
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: .brokenTLS)
      #expect(hostile.abuses.counts == [.brokenTLS: 1])
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n\r\n",
    "POST /test.Test/Get HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc-web\r\n",
    "nonsense\r\n\r\n", "PRI",
  ]) func aBrokenRecordEndsTheConnectionWherePagesAreServed(_ words: String) async throws {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    try await HostilePair.with(.tls, options) { hostile async throws in
      let peer = try SecurePeer(hostile.pair.address)
      peer.tls.write(Array(words.utf8))
      peer.flush(SecurePeer.brokenRecord)
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: .brokenTLS)
      #expect(hostile.abuses.counts == [.brokenTLS: 1])
    }
  }

  @Test(arguments: [true, false]) func endlessKeyUpdatesEndTheConnection(_ asks: Bool) async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let peer = try SecurePeer(hostile.pair.address)
      peer.say(SecurePeer.preface)
      repeat {
        for _ in 0..<100 { peer.tls.updateKey(asking: asks) }
      } while peer.flush()
      await hostile.abuses.wait(for: .recordFlood)
      #expect(hostile.abuses.counts == [.recordFlood: 1])
    }
  }

  /// Occasional key updates are not a flood.
  @Test func occasionalKeyUpdatesAreAccepted() async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let peer = try SecurePeer(hostile.pair.address)
      peer.say(SecurePeer.preface)
      let ping = FramePeer.frame(Kind.ping, 0, 0, Array("a ping's".utf8))
      for _ in 0..<50 {
        peer.tls.updateKey()
        peer.say(FramePeer.frame(Kind.windowUpdate, 0, 0, [0, 0, 0, 1]))
      }
      peer.say(ping)
      #expect(peer.listen { $0.contains(ping.suffix(8)) }.contains(ping.suffix(8)))
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func unreadTLSAnswersEndTheConnection() async throws {
    var options = ServerOptions()
    // Only the missing reader should stop it.
    options.controlFrameAllowance = .max / 8
    try await HostilePair.with(.tls, options) { hostile async throws in
      let peer = try SecurePeer(hostile.pair.address)
      // A response without end fills the socket.
      peer.say(
        SecurePeer.preface + FramePeer.frame(Kind.settings, 0, 0, [0, 4, 0x7f, 0xff, 0xff, 0xff])
          + FramePeer.frame(Kind.windowUpdate, 0, 0, [0x7f, 0xff, 0, 0])
          + FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Flood")))
          + FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 0])
      )
      repeat {
        for _ in 0..<100 { peer.tls.updateKey() }
      } while peer.flush()
      await hostile.abuses.wait(for: .unreadAnswers)
      #expect(hostile.abuses.counts == [.unreadAnswers: 1])
    }
  }

  @Test func alertsAndEmptyRecordsBeforeTheHandshakeEndTheConnection() async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      for record: [UInt8] in [[0x15, 3, 1, 0, 2, 1, 90], [0x16, 3, 1, 0, 0], [0x14, 3, 1, 0, 1, 1]] {
        let peer = try RawPeer(hostile.pair.address)
        for _ in 0..<10_000 { guard peer.send(record) else { break } }
        #expect(peer.readToEnd())
      }
      await hostile.abuses.wait(for: .brokenTLS)
      #expect(hostile.abuses.counts == [.brokenTLS: 3])
    }
  }

  /// A ClientHello in records of one byte each.
  @Test func aHandshakeInTooManyPiecesIsRejected() async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let peer = try RawPeer(hostile.pair.address)
      let hello: [UInt8] = [1, 1, 0, 0, 3, 3] + [UInt8](repeating: 0, count: 65536)
      let records = hello.flatMap { [0x16, 3, 1, 0, 1, $0] as [UInt8] }
      for start in stride(from: 0, to: records.count, by: 6000) {
        guard peer.send(Array(records[start..<min(records.count, start + 6000)])) else { break }
      }
      #expect(peer.readToEnd())
      await hostile.abuses.wait(for: .recordFlood)
      #expect(hostile.abuses.counts == [.recordFlood: 1])
    }
  }

  @Test func earlyDataIsRejected() async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      let first = try SecurePeer(hostile.pair.address)
      first.say(SecurePeer.preface)
      // Tickets come after the handshake, and before the first data.
      _ = first.listen { !$0.isEmpty }
      let session = try #require(first.tls.session(earlyData: 1 << 20))
      for (count, isFine) in [(1000, true), (100_000, false)] {
        let late = SecurePeer(
          try RawPeer(hostile.pair.address),
          try TLSPeer(.client, resuming: session)
        )
        #expect(late.tls.writeEarly([UInt8](repeating: 0, count: count)))
        late.flush()
        guard isFine else {
          #expect(late.raw.readToEnd())
          continue
        }
        try late.shakeHands()
        #expect(!late.tls.earlyDataWasTaken)
        late.say(SecurePeer.preface)
        #expect(!late.listen { !$0.isEmpty }.isEmpty)
      }
      await hostile.abuses.wait(for: .brokenTLS)
      #expect(hostile.abuses.counts == [.brokenTLS: 1])
    }
  }

  /// The request comes together with the last handshake message.
  @Test(arguments: [TLSVersion.tls12, .tls13]) func aCertificateIsKnownToTheFirstCall(_ version: TLSVersion)
    async throws
  {
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    try await withServer([TestService()], options: options) { _, address async throws in
      let peer = SecurePeer(
        try RawPeer(address),
        try TLSPeer(.client, version: version, showsCertificate: true)
      )
      peer.tls.shakeHands()
      peer.flush()
      var head: [UInt8] = []
      while !peer.tls.isSecure {
        // The last flight of the client is held back.
        if !head.isEmpty { peer.raw.send(head) }
        let bytes = peer.raw.readSome()
        try #require(!bytes.isEmpty)
        peer.tls.take(bytes)
        head = peer.tls.takeOutput()
      }
      peer.tls.write(
        SecurePeer.preface + FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Identify")))
          + FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 0])
      )
      peer.raw.send(head + peer.tls.takeOutput())
      let subject = Array("CN=test client".utf8)
      let said = peer.listen { $0.contains(subject) || $0.contains(Array("nobody".utf8)) }
      #expect(said.contains(subject))
    }
  }

  // MARK: Servers

  /// The status of a client's call when the server attacks below HTTP/2.
  private func call(
    _ protocols: [String] = ["h2"],
    _ version: TLSVersion = .tls13,
    _ attack: @escaping @Sendable (SecurePeer) -> Void
  ) async throws -> (status: GRPCStatus?, abuses: [PeerAbuse: Int]) {
    var options = ChannelOptions()
    options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    return try await HostileListener.with(options) { hostile async throws in
      let call = hostile.call()
      let tls = try TLSPeer(.server, version: version, protocols: protocols)
      let peer = SecurePeer(hostile.listener.acceptRaw(), tls)
      peer.tls.take(peer.raw.readSome())
      attack(peer)
      return (await status { _ = try await call.value }, hostile.abuses.counts)
    }
  }

  /// Completes the handshake and sends the settings.
  private static func greet(_ peer: SecurePeer) {
    peer.flush()
    while !peer.tls.isSecure {
      let bytes = peer.raw.readSome()
      guard !bytes.isEmpty else { return }
      peer.tls.take(bytes)
      peer.flush()
    }
    peer.say(FramePeer.frame(Kind.settings, 0, 0, []))
  }

  /// Whether a client has sent the headers of a call.
  private static func hasHeaders(_ said: [UInt8]) -> Bool {
    var frames = said.dropFirst(24)
    while frames.count >= 9 {
      let head = Array(frames.prefix(9))
      if head[3] == Kind.headers { return true }
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      frames = frames.dropFirst(9 + length)
    }
    return false
  }

  @Test(
    arguments: [TLSVersion.tls12, .tls13],
    [[UInt8](repeating: 0xff, count: 24), [0, 0, 0, 4, 0, 0, 0, 0, 0]]
  )
  func aServersBrokenRecordFailsTheCall(_ version: TLSVersion, _ words: [UInt8]) async throws {
    let result = try await call(["h2"], version) { peer in
      Self.greet(peer)
      peer.tls.write(words)
      peer.flush(SecurePeer.brokenRecord)
      _ = peer.raw.readToEnd()
    }
    #expect(result.status?.code == .unavailable)
    #expect(result.status?.message?.hasPrefix("TLS: the connection broke") == true)
    #expect(result.abuses == [.brokenTLS: 1])
  }

  /// The data with the end of the handshake came without agreement on HTTP/2.
  @Test func nothingIsAcceptedBeforeALPNIsChecked() async throws {
    let result = try await call([]) { peer in
      // A farewell would be what the call ends with, if it were read.
      peer.tls.write(FramePeer.frame(Kind.settings, 0, 0, []))
      peer.tls.write(FramePeer.frame(Kind.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 11]))
      peer.flush()
      _ = peer.raw.readToEnd()
    }
    #expect(result.status == .noHTTP2)
    #expect(result.abuses == [.brokenTLS: 1])
  }

  @Test(arguments: ["keys", "tickets"]) func aServerThatKeepsAClientBusyIsDisconnected(_ what: String)
    async throws
  {
    let result = try await call { peer in
      Self.greet(peer)
      repeat {
        for _ in 0..<100 { if what == "keys" { peer.tls.updateKey() } else { peer.tls.sendTicket() } }
      } while peer.flush()
    }
    #expect(result.status?.code == .unavailable)
    #expect(result.abuses == [.recordFlood: 1])
  }

  /// Each ticket costs the client more than a record, and a record may hold 900.
  @Test func aRecordWithManyTicketsEndsTheConnection() async throws {
    let result = try await call { peer in
      Self.greet(peer)
      _ = peer.listen { Self.hasHeaders($0) }
      guard var writer = try? peer.tls.takeOver() else { return }
      // A lifetime, a number to add to its age, no nonce, one byte of a ticket, no extensions.
      let ticket: [UInt8] = [4, 0, 0, 14, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 7, 0, 0]
      let tickets = [[UInt8]](repeating: ticket, count: 900).flatMap { $0 }
      let records = (0..<20).flatMap { _ in writer.record(RecordWriter.handshake, tickets) }
      let answer = FramePeer.frame(
        Kind.headers,
        5,
        1,
        FramePeer.block([(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "5")])
      )
      peer.flush(records + writer.record(RecordWriter.data, answer))
      _ = peer.raw.readToEnd()
    }
    #expect(result.status?.code == .unavailable)
    #expect(result.abuses == [.recordFlood: 1])
  }
}
