import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The end of a call may close its connection while the headers of another response have arrived in part.
@Suite(.timeLimit(.minutes(1))) struct ClosedInsideHeadersTests {
  private typealias Kind = FramePeer.Kind

  private final class Closer: ResponseReceiver {
    private let channel: HTTP2ClientTransport

    init(_ channel: HTTP2ClientTransport) { self.channel = channel }

    var wantsMetadata: Bool { false }
    var wantsSent: Bool { false }
    func sent(_ part: SentPart) {}
    func responseWasCompressed() {}

    func receive(headers: HPACKHeaders) {}
    func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
    func receive(message: RawSpan) {}

    /// Called on the loop.
    func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
      channel.connections.first?.close(.channelShutDown)
    }
  }

  @Test func noTimerOutlivesTheConnection() async throws {
    let group = try LoopGroup()
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: ChannelOptions(), group: group)
    let isClosed = await channel.loop.onLoop {
      FedConnection.withClient(channel) { connection in
        let request = BytesMarshaller().encode([])
        let call = CallRequest(method: TestService.get, options: nil, body: .message(request))
        channel.makeCall(call, receiver: Closer(channel)).start()
        connection.flush()
        let head = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "0")]
        let partOfAnother: [UInt8] = [0, 0, 100, 1, 4, 0, 0, 0, 3]
        connection.feed(FramePeer.frame(Kind.headers, 5, 1, FramePeer.block(head)) + partOfAnother)
        return connection.isClosed
      }
    }
    #expect(isClosed == true)
    // The timer of those headers would use the connection, which no longer exists.
    await channel.loop.advance(by: .seconds(21))
  }
}
