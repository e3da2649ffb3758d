import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Headers that nghttp2 refuses to send, whose size was not checked before: the stream ends nevertheless.
@Suite struct SentHeadersTests {
  private func makeTooLarge(_ headers: HeaderWriter) {
    headers.add("x-large", [UInt8](repeating: 7, count: SessionSettings.largestSentHeaders))
  }

  private func drain(_ session: Session) -> OutputBuffer {
    let output = OutputBuffer()
    while session.drain(into: output, limit: 1 << 20) == .some {}
    return output
  }

  private func feed(_ output: OutputBuffer, to session: Session) {
    output.forEachPiece { _ = session.receive($0, now: 1) }
  }

  @Test func rewoundHeadersAwaitWhatTheyAwaitedBefore() {
    let headers = HeaderWriter()
    headers.mayAnnounce = true
    headers.add(":method", "POST")
    let start = headers.mark
    let size = headers.listSize
    #expect(headers.announceTraceParent())
    let announced = headers.mark
    headers.add("x-more", "y")
    headers.rewind(to: announced)
    #expect(headers.awaitsTraceParent)
    headers.rewind(to: start)
    #expect(!headers.awaitsTraceParent)
    #expect(headers.listSize == size)
    headers.rewind(to: announced)
    #expect(headers.awaitsTraceParent)
  }

  @Test func aRequestWhoseHeadersAreNotSentIsRefused() throws {
    let blocks = BlockPool()
    let session = try #require(Session(.client, settings: SessionSettings(isServer: false), memory: blocks))
    let stream = StubStream()
    session.headers.add(":method", "POST")
    makeTooLarge(session.headers)
    #expect(session.submitRequest(stream))
    _ = drain(session)
    #expect(stream.refusal == .headersNotSent)
    #expect(stream.closeCode != nil)
    #expect(session.streams.count == 0)
  }

  @Test func aResponseWhoseHeadersAreNotSentEndsItsStream() throws {
    let blocks = BlockPool()
    let client = try #require(Session(.client, settings: SessionSettings(isServer: false), memory: blocks))
    let server = try #require(Session(.server, settings: SessionSettings(), memory: blocks))
    let (peer, call) = (StubPeer(), StubStream())
    server.delegate = peer
    for (name, value) in [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "a")]
      as [(StaticString, StaticString)]
    {
      client.headers.add(name, value)
    }
    #expect(client.submitRequest(call))
    feed(drain(client), to: server)
    #expect(server.streams.count == 1)
    let stream = try #require(peer.streams.first)
    server.headers.reset()
    server.headers.add(":status", "200")
    makeTooLarge(server.headers)
    server.submitTrailersOnly(stream)
    feed(drain(server), to: client)
    #expect(stream.refusal == .headersNotSent)
    #expect(server.streams.count == 0)
    #expect(call.closeCode == HTTP2Error.internalError.rawValue)
    withExtendedLifetime(peer) {}
  }

  // MARK: Truncated status messages

  @Test(arguments: [
    ("abc", 3, "abc"), ("abcdefgh", 5, "ab..."), ("abcdefgh", 3, "..."), ("abcdefgh", 2, ".."),
    ("abc", 0, ""),
    ("a%bcdefgh", 6, "a..."), ("a%bcdefgh", 7, "a%25..."), ("ab\u{e9}cdefgh", 11, "ab%C3%A9..."),
    ("ab\u{e9}cdefgh", 10, "ab..."), ("ab\u{e9}cdefgh", 8, "ab..."), ("ab\u{1F600}cdef", 16, "ab..."),
    ("\u{1F600}\u{1F600}", 15, "%F0%9F%98%80..."),
  ])
  func statusMessagesAreCutBetweenCharacters(_ sample: (text: String, limit: Int, encoded: String)) {
    let encoded = StatusMessage.encode(sample.text, upTo: sample.limit)
    #expect(String(decoding: encoded, as: UTF8.self) == sample.encoded)
  }
}
