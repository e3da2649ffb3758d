import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Trailers have no effect on the call: its metadata, deadline, encoding and format come from the first block.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TrailerTests {
  private typealias Kind = FramePeer.Kind

  /// The handler's view of its call, as response headers.
  private struct Mirror: CallHandlerProvider {
    var serviceName: String { "test.Mirror" }

    static func mirror(_ context: ServerCallContext) {
      context.setInitialMetadata([
        "token": context.headers["x-token"].joined(separator: ","),
        "user": context.headers["x-user"].joined(separator: ","),
        "deadline": "\(context.deadline != nil)",
      ])
    }

    var methodHandlers: [MethodHandler] {
      return [
        MethodDescriptor(service: serviceName, method: "One", type: .unary).bytes.unaryHandler {
          request,
          context in
          Self.mirror(context)
          return request
        },
        MethodDescriptor(service: serviceName, method: "Many", type: .bidirectionalStreaming).bytes
          .bidirectionalStreamingHandler { requests, responses, context in
            Self.mirror(context)
            for try await request in requests { try await responses.send(request) }
          },
        MethodDescriptor(service: serviceName, method: "Intercepted", type: .unary).bytes.unaryHandler(
          interceptors: { [ServerInterceptor<[UInt8], [UInt8]>()] },
          { request, context in
            Self.mirror(context)
            return request
          }
        ),
      ]
    }
  }

  private func with(
    _ options: ServerOptions = ServerOptions(),
    _ body: (SocketAddress) async throws -> Void
  ) async throws {
    try await withServer([Mirror()], options: options) { _, address async throws in
      try await body(address)
    }
  }

  private static let message: [UInt8] = [0, 0, 0, 0, 2, 7, 8]

  private static let trailers = [
    ("x-token", "stolen"), ("x-user", "admin"), ("grpc-timeout", "1H"), ("grpc-encoding", "rot13"),
    ("content-type", "text/plain"),
  ]

  @Test(arguments: ["One", "Many", "Intercepted"], [false, true])
  func trailersOfARequestAreDropped(_ method: String, inPieces: Bool) async throws {
    try await with { address async throws in
      let peer = try FramePeer(address)
      let head = FramePeer.request("/test.Mirror/\(method)", [("x-token", "mine")])
      let frames = [
        FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head)),
        FramePeer.frame(Kind.data, 0, 1, Self.message),
        FramePeer.frame(Kind.headers, 5, 1, FramePeer.block(Self.trailers)),
      ]
      if inPieces {
        for frame in frames {
          peer.raw.send(frame)
          peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
        }
      } else {
        peer.raw.send(frames.flatMap { $0 })
      }
      let answer = try #require(peer.nextHeaders())
      #expect(answer.fields["token"] == "mine")
      #expect(answer.fields["user"] == "")
      #expect(answer.fields["deadline"] == "false")
      #expect(peer.next(Kind.data)?.payload == Self.message)
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "0")
    }
  }

  struct Refused: Sendable {
    let name: String
    var flags: UInt8 = 5
  }

  @Test(arguments: [
    Refused(name: ":path"), Refused(name: ":authority"), Refused(name: "x-user", flags: 4),
    Refused(name: "Upper"),
  ])
  func forbiddenTrailersEndTheStream(_ sample: Refused) async throws {
    try await with { address async throws in
      let peer = try FramePeer(address)
      peer.headers(1, FramePeer.request("/test.Mirror/One"))
      peer.data(1, Self.message)
      peer.send(Kind.headers, sample.flags, 1, FramePeer.block([(sample.name, "/test.Mirror/Many")]))
      #expect(peer.next(Kind.resetStream)?.payload == [0, 0, 0, 1])
    }
  }

  @Test func trailersOfChunkedBodiesAreDropped() async throws {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    try await with(options) { address async throws in
      let peer = try HTTP1Peer(address)
      let head = [
        "POST /test.Mirror/One HTTP/1.1", "host: test", "content-type: application/grpc-web", "x-token: mine",
        "transfer-encoding: chunked", "", "",
      ]
      let trailers = Self.trailers.map { "\($0.0): \($0.1)\r\n" }.joined()
      peer.send(head.joined(separator: "\r\n") + "7\r\n\0\0\0\0\u{2}\u{7}\u{8}\r\n0\r\n\(trailers)\r\n")
      let response = try #require(peer.response())
      #expect(response.fields["token"] == "mine")
      #expect(response.fields["user"] == "")
      #expect(response.fields["deadline"] == "false")
      #expect(WebMessages(response.body).messages == [[7, 8]])
    }
  }

  // MARK: Responses

  private static let head = [(":status", "200"), ("content-type", "application/grpc")]

  /// Makes a call that gets these frames as a response, in one piece.
  private func call(_ frames: [[UInt8]]) async throws -> Result<[UInt8], GRPCStatus> {
    let listener = try FrameListener()
    let channel = try Channel(target: listener.target, options: ChannelOptions())
    let call = Task(executorPreference: channel.eventLoop) { try await Caller(channel: channel).get() }
    let peer = listener.accept()
    _ = peer.next(Kind.data)
    peer.raw.send(frames.flatMap { $0 })
    let result: Result<[UInt8], GRPCStatus>
    do { result = .success(try await call.value) } catch { result = .failure(GRPCStatus(describing: error)) }
    await channel.shutDown(grace: .zero)
    return result
  }

  /// A message being decompressed on another thread is still pending when the trailers arrive.
  @Test func trailersOfAResponseDoNotChangeItsEncoding() async throws {
    let result = try await call([
      FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(Self.head + [("grpc-encoding", "gzip")])),
      FramePeer.frame(Kind.data, 0, 1, MessageAttackTests.zeros(1 << 20)),
      FramePeer.frame(
        Kind.headers,
        5,
        1,
        FramePeer.block([("grpc-status", "0"), ("grpc-encoding", "rot13"), ("content-type", "text/plain")])
      ),
    ])
    #expect(try result.get() == [UInt8](repeating: 0, count: 1 << 20))
  }

  /// A status counts only in the block that ends the stream: otherwise the response may be incomplete.
  @Test func aStatusBeforeTheEndIsIgnored() async throws {
    let result = try await call([
      FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(Self.head + [("grpc-status", "0")])),
      FramePeer.frame(Kind.data, 1, 1, Self.message),
    ])
    guard case .failure(let status) = result else {
      Issue.record("a response without a status is taken for whole")
      return
    }
    #expect(status.code == .unknown)
    #expect(status.message == "the response ended without a grpc-status")
  }

  @Test func aStatusInTheHeadersDoesNotMakeAResponseGRPC() async throws {
    let result = try await call([
      FramePeer.frame(Kind.headers, 4, 1, FramePeer.block([(":status", "200"), ("grpc-status", "0")])),
      FramePeer.frame(Kind.data, 0, 1, Self.message),
      FramePeer.frame(Kind.headers, 5, 1, FramePeer.block([("grpc-status", "0")])),
    ])
    guard case .failure(let status) = result else {
      Issue.record("a response of no content type is taken for gRPC's")
      return
    }
    #expect(status.code == .unknown)
  }
}
