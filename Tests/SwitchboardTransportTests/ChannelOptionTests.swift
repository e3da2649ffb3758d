import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The effects of a channel's options, seen from the other side of the connection.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct ChannelOptionTests {
  private typealias Kind = FramePeer.Kind

  private static let headers = [(":status", "200"), ("content-type", "application/grpc")]

  /// Makes a call, lets `serve` respond, and returns the result of the call.
  private func call(
    _ change: (inout ChannelOptions) -> Void,
    _ callOptions: CallOptions? = nil,
    serve: (FrameListener) throws -> Void
  ) async throws -> Result<[UInt8], GRPCStatus> {
    let listener = try FrameListener()
    var options = ChannelOptions()
    change(&options)
    let channel = try Channel(target: listener.target, options: options)
    let call = Task(executorPreference: channel.eventLoop) {
      try await Caller(channel: channel).get(options: callOptions)
    }
    try serve(listener)
    let result: Result<[UInt8], GRPCStatus>
    do { result = .success(try await call.value) } catch { result = .failure(GRPCStatus(describing: error)) }
    await channel.shutDown(grace: .zero)
    return result
  }

  private func answer(_ peer: FramePeer, extra: [(String, String)] = [], trailers: [(String, String)] = []) {
    // The whole request is read first: closing the socket with unread bytes would reset the connection.
    while let frame = peer.next(Kind.data), !frame.endsStream {}
    peer.headers(1, Self.headers + extra)
    peer.data(1, [0, 0, 0, 0, 1, 9])
    peer.headers(1, [("grpc-status", "0")] + trailers, ends: true)
  }

  @Test func theDecodersTableIsAnnounced() async throws {
    let result = try await call(
      { $0.hpackTableSizeDecoder = 1234 },
      serve: { listener in
        let peer = listener.accept()
        let settings = try #require(peer.next(Kind.settings)).payload
        let entries = stride(from: 0, to: settings.count, by: 6).map { Array(settings[$0..<$0 + 6]) }
        #expect(entries.contains([0, 1, 0, 0, 4, 210]))
        answer(peer)
      }
    )
    #expect(result == .success([9]))
  }

  @Test func aStreamsWindowIsAnnounced() async throws {
    let result = try await call(
      { $0.streamLookahead = 77_777 },
      serve: { listener in
        let peer = listener.accept()
        let settings = try #require(peer.next(Kind.settings)).payload
        let entries = stride(from: 0, to: settings.count, by: 6).map { Array(settings[$0..<$0 + 6]) }
        #expect(entries.contains([0, 4, 0, 1, 0x2f, 0xd1]))
        answer(peer)
      }
    )
    #expect(result == .success([9]))
  }

  @Test(arguments: [false, true]) func callsCarryUserAgentAndAuthority(_ bySelf: Bool) async throws {
    let options = CallOptions(serverAuthority: bySelf ? "call.test" : nil)
    let result = try await call(
      {
        $0.userAgentPrefix = "app/1"
        $0.authority = "channel.test"
      },
      options,
      serve: { listener in
        let peer = listener.accept()
        let fields = try #require(peer.nextHeaders()).fields
        #expect(fields["user-agent"]?.hasPrefix("app/1 grpc-swift-switchboard/") == true)
        #expect(fields[":authority"] == (bySelf ? "call.test" : "channel.test"))
        answer(peer)
      }
    )
    #expect(result == .success([9]))
  }

  /// A line break would begin another field over HTTP/1.1, and behind a proxy that speaks it.
  @Test(arguments: ["a\r\nb: c", "a\nb", "a\0", "\u{7f}"])
  func whatHTTPDoesNotAllowIsRefused(_ text: String) async throws {
    let changes: [(inout ChannelOptions) -> Void] = [{ $0.userAgentPrefix = text }, { $0.authority = text }]
    for change in changes {
      var options = ChannelOptions()
      change(&options)
      let failure = #expect(throws: GRPCStatus.self) { try Channel(target: "127.0.0.1:1", options: options) }
      #expect(failure?.code == .invalidArgument)
    }
    for (wireProtocol, version) in [(.grpc, .negotiated), (.connect, .http1)] as [(CallProtocol, HTTPVersion)]
    {
      var options = ChannelOptions()
      options.wireProtocol = wireProtocol
      options.httpVersion = version
      try await withChannel(to: "127.0.0.1:1", options: options) { channel async throws in
        let method = MethodDescriptor(service: "a", method: text, type: .unary)
        let byPath = await status { _ = try await Caller(channel: channel).get(method) }
        #expect(byPath?.code == .invalidArgument)
        let authority = CallOptions(serverAuthority: text)
        let byAuthority = await status { _ = try await Caller(channel: channel).get(options: authority) }
        #expect(byAuthority?.code == .invalidArgument)
      }
    }
  }

  /// A resolver may take a name from anything.
  @Test(arguments: [
    ("shop.example:443", "shop.example:443"), ("[::1]:1", "[::1]:1"), ("a/b c\n", "a%2Fb%20c%0A"),
    ("ü", "%C3%BC"),
    ("a@b", "a%40b"),
  ])
  func theNameOfAServerIsEscaped(_ sample: (name: String, authority: String)) throws {
    #expect(try ChannelOptions().makeAuthority(sample.name) == Array(sample.authority.utf8))
  }

  @Test func anUnansweredConnectionAttemptTimesOut() async throws {
    var silent: RawPeer?
    let result = try await call(
      {
        $0.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
        $0.connectMinTimeout = .milliseconds(30)
        $0.connectInitialBackoff = .milliseconds(1)
      },
      serve: { listener in silent = listener.acceptRaw() }
    )
    guard case .failure(let status) = result else {
      Issue.record("the call should have failed")
      return
    }
    #expect(status.code == .unavailable)
    #expect(silent != nil)
  }

  @Test func backoffGrowsToTheMaximum() {
    var backoff = Backoff(initial: .seconds(1), maximum: .seconds(2))
    var random = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      for middle in [1, 1.6, 2, 2] {
        let wait = backoff.next(using: &random)
        #expect((.seconds(middle * 0.8)...(.seconds(middle * 1.2))).contains(wait))
      }
      backoff.reset()
    }
  }

  @Test func theEncodersTableIsLimited() async throws {
    let result = try await call(
      { $0.hpackTableSizeEncoder = 0 },
      serve: { listener in
        let peer = listener.accept()
        let block = try #require(peer.next(Kind.headers)).payload
        // A dynamic table of size zero, as encoded by RFC 7541.
        #expect(block.first == 0x20)
        answer(peer)
      }
    )
    #expect(result == .success([9]))
  }

  @Test(arguments: [false, true]) func headersBeyondTheLimitAreRefused(_ inTrailers: Bool) async throws {
    let large = [("large", String(repeating: "x", count: 2000))]
    let result = try await call(
      { $0.maxMetadataSize = 1000 },
      serve: { listener in
        let peer = listener.accept()
        answer(peer, extra: inTrailers ? [] : large, trailers: inTrailers ? large : [])
      }
    )
    guard case .failure(let status) = result else {
      Issue.record("the call should have failed")
      return
    }
    #expect(status.code == .resourceExhausted)
  }

  @Test func headersAndTrailersEachHaveTheLimit() async throws {
    let half = [("half", String(repeating: "x", count: 600))]
    let result = try await call(
      { $0.maxMetadataSize = 1000 },
      serve: { listener in
        let peer = listener.accept()
        answer(peer, extra: half, trailers: half)
      }
    )
    #expect(result == .success([9]))
  }

  @Test func concurrentCallsAreLimited() async throws {
    let opened = OpenedConnections()
    var serverOptions = ServerOptions()
    serverOptions.observer = opened
    var options = ChannelOptions()
    options.maxConcurrentStreams = 1
    options.maxConnections = 2
    try await TestPair.with(server: serverOptions, channel: options) { pair async throws in
      let first = Task { try await pair.get(TestService.hang, [1]) }
      await pair.service.hanging.wait()
      #expect(try await pair.get() == [1, 2, 3])
      #expect(opened.counter.value == 2)
      pair.service.cancelled.fire()
      #expect(try await first.value == [1])
    }
  }

  private struct OpenedConnections: CallObserver {
    let counter = Counter()
    func connectionOpened(_ connection: ObservedConnection) { counter.add(1) }
  }

  @Test func invalidValuesAreRejected() throws {
    let changes: [(inout ChannelOptions) -> Void] = [
      { $0.streamLookahead = -1 }, { $0.connectionWindow = .max }, { $0.maxMetadataSize = -1 },
      { $0.hpackTableSizeEncoder = -1 }, { $0.hpackTableSizeDecoder = .max }, { $0.maxConcurrentStreams = 0 },
    ]
    for change in changes {
      var options = ChannelOptions()
      change(&options)
      #expect(throws: GRPCStatus.self) { _ = try Channel(target: "localhost:1", options: options) }
    }
  }
}
