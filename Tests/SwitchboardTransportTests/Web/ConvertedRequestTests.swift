import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Requests that become messages on the way, which may be much larger than what arrived.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConvertedRequestTests {
  /// Each byte of a request is a message of a kilobyte, the end is one more, and responses are as they are.
  private final class Growing: Dialect {
    private let made: Counter

    init(made: Counter) { self.made = made }

    func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
      request.method.map { .call(DialectCall($0, .unnamed, GrowingExchange(made: made))) }
    }
  }

  private final class GrowingExchange: DialectExchange, DialectFraming {
    private let made: Counter

    init(made: Counter) { self.made = made }

    private func frame(_ byte: UInt8) -> [UInt8] {
      made.add(1)
      return WebMessages.frame([UInt8](repeating: byte, count: 1024))
    }

    var requestForm: DialectRequestForm { .converted(self) }

    func frames(from piece: inout UnsafeRawBufferPointer, _ limit: MessageLimit) -> [UInt8] {
      defer { piece = UnsafeRawBufferPointer(rebasing: piece.dropFirst()) }
      return piece.first.map { frame($0) } ?? []
    }

    func framesAtEnd(_ limit: MessageLimit) -> [UInt8] { frame(0) }
    var addedByteCount: Int { 0 }
    var gatheredByteCount: Int { 0 }
    var waitsForEnd: Bool { true }

    func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
      -> DialectBody?
    {
      headers.add(":status", ending.isOk ? "200" : "500")
      return message.map { .message($0) } ?? DialectBody.none
    }

    func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter) {
    }
    var sendsFrames: Bool { false }
    var responseEncoder: (any DialectEncoder)? { nil }
    var isBase64: Bool { false }
    func end(_ ending: borrowing DialectEnding) -> [UInt8]? { [] }
  }

  private func with(_ group: LoopGroup, _ body: (TestPair, Counter) async throws -> Void) async throws {
    let made = Counter()
    var options = ServerOptions()
    options.dialects = [{ (_: RPCMethods) -> any Dialect in Growing(made: made) }]
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      try await body(pair, made)
    }
  }

  @Test func requestsWithoutAReaderAreNotConverted() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await with(group) { pair, made async throws in
      let peer = try HTTP1Peer(pair.address)
      let count = 10_000
      peer.send(ConnectPeer.head("POST", "/test.Test/SleepAndCollect", "", ["content-length: \(count)"]))
      peer.raw.send([UInt8](repeating: 7, count: count))
      let server = pair.server
      await loop.until { server.core.connections.contains { $0.socket.isPaused } }
      // The stream's buffer, and one that filled it.
      #expect(made.value <= 256 * 1024 / 1024 + 2)
      pair.service.released.fire()
      let response = try #require(peer.response())
      #expect(response.body.count == (count + 1) * 1024)
      #expect(response.body.suffix(1025) == ([7] + [UInt8](repeating: 0, count: 1024))[...])
      #expect(made.value == count + 1)
    }
  }

  @Test func waitingReadersGetEverything() async throws {
    try await with(try LoopGroup()) { pair, made async throws in
      let peer = try HTTP1Peer(pair.address)
      for count in [0, 1, 5000] {
        peer.send(ConnectPeer.head("POST", "/test.Test/Collect", "", ["content-length: \(count)"]))
        peer.raw.send([UInt8](repeating: 7, count: count))
        #expect(peer.response()?.body.count == (count + 1) * 1024)
      }
    }
  }
}
