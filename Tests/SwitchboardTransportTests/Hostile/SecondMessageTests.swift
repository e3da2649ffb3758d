import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Messages after the only allowed one, which is still being decompressed: an immediate error, not a queue.
@Suite(.timeLimit(.minutes(5))) struct SecondMessageTests {
  private typealias Kind = FramePeer.Kind

  /// A megabyte, which is decompressed on another thread; a test can delay its delivery to the loop.
  private static let first = MessageAttackTests.zeros(1 << 20)
  private static let empty = [UInt8](repeating: 0, count: 10_000)

  @Test(arguments: [false, true]) func aSecondRequestFailsTheCallWhenItComes(isCompressed: Bool) async throws
  {
    let group = try LoopGroup()
    let server = try Server(providers: [TestService()], group: group)
    let (core, loop) = (server.core, group.loops[0])
    let second = isCompressed ? Self.first : Self.empty
    let failure: GRPCStatus? = await loop.onLoop {
      FedConnection.withServer(core, on: loop) { connection in
        let head = FramePeer.call("Get", adding: [("grpc-encoding", "gzip")])
        connection.feed(FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head)))
        connection.feed(FramePeer.frame(Kind.data, 0, 1, Self.first))
        guard let stream = connection.http2?.stream(1)?.takeUnretainedValue() as? ServerCallStream,
          stream.request.failure == nil
        else {
          return nil
        }
        connection.feed(FramePeer.frame(Kind.data, 0, 1, second))
        return stream.request.failure
      } ?? nil
    }
    #expect(failure == .wrongRequestCount)
    await server.shutDown(grace: .zero)
  }

  @Test(arguments: [false, true]) func aSecondResponseFailsTheCallWhenItComes(isCompressed: Bool) async throws
  {
    let group = try LoopGroup()
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: ChannelOptions(), group: group)
    let receiver = EndRecorder()
    let second = isCompressed ? Self.first : Self.empty
    await channel.loop.onLoop {
      _ = FedConnection.withClient(channel) { connection in
        let request = BytesMarshaller().encode([])
        let call = CallRequest(method: TestService.get, options: nil, body: .message(request))
        channel.makeCall(call, receiver: receiver).start()
        connection.flush()
        let head = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip")]
        connection.feed(FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head)))
        connection.feed(FramePeer.frame(Kind.data, 0, 1, Self.first))
        if receiver.end == nil { connection.feed(FramePeer.frame(Kind.data, 0, 1, second)) }
        // Otherwise it would see the end of the connection.
        receiver.stop()
      }
    }
    #expect(receiver.end == .tooManyResponses)
  }
}
