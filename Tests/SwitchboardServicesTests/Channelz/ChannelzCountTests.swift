import CallTestSupport
import EchoService
import HTTP2TestSupport
import Switchboard
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChannelzCountTests {
  private func requests(_ words: String...) -> [Echo_EchoRequest] {
    words.map { word in .with { $0.text = word } }
  }

  @Test func callsAreCountedByHowTheyEnd() async throws {
    let before = Google_Protobuf_Timestamp.now() - Google_Protobuf_Duration(seconds: 1)
    try await Watched.with { watched async throws in
      #expect(try await watched.serverData() == Grpc_Channelz_V1_ServerData())
      for _ in 0..<3 { #expect(await watched.get("hello") == nil) }
      for _ in 0..<2 { #expect(await watched.get("refuse")?.code == .invalidArgument) }
      for try await _ in watched.echo.update(requests("a", "b", "c")) {}

      let server = try await watched.serverData()
      #expect([server.callsStarted, server.callsSucceeded, server.callsFailed] == [6, 4, 2])
      let channel = try await watched.channelData()
      #expect([channel.callsStarted, channel.callsSucceeded, channel.callsFailed] == [6, 4, 2])
      #expect(channel.state.state == .ready)
      #expect(channel.target == "\(watched.address)")
      #expect(channel.maxConnectionsPerSubchannel == 4)
      for time in [server.lastCallStartedTimestamp, channel.lastCallStartedTimestamp] {
        #expect(time > before && time < .now() + Google_Protobuf_Duration(seconds: 1))
      }
    }
  }

  @Test func aConnectionCountsItsStreamsAndMessages() async throws {
    try await Watched.with { watched async throws in
      #expect(await watched.get("hello") == nil)
      #expect(await watched.get("refuse") != nil)
      _ = try await watched.echo.collect(requests("a", "b"))
      for try await _ in watched.echo.expand(.with { $0.text = "a b c" }) {}

      // A rejection is a complete response: its stream was not cut off.
      let server = try await watched.socket(watched.serverSockets().first).data
      #expect([server.streamsStarted, server.streamsSucceeded, server.streamsFailed] == [4, 4, 0])
      #expect([server.messagesReceived, server.messagesSent] == [5, 5])
      #expect(server.hasLastRemoteStreamCreatedTimestamp && !server.hasLastLocalStreamCreatedTimestamp)
      let client = try await watched.socket(watched.channelSockets().first).data
      #expect([client.streamsStarted, client.streamsSucceeded, client.streamsFailed] == [4, 4, 0])
      #expect([client.messagesSent, client.messagesReceived] == [5, 5])
      #expect(client.hasLastLocalStreamCreatedTimestamp && !client.hasLastRemoteStreamCreatedTimestamp)
      #expect(client.hasLastMessageSentTimestamp && client.hasLastMessageReceivedTimestamp)
    }
  }

  @Test func aCallThatIsCutOffHasFailed() async throws {
    try await Watched.with { watched async throws in
      let call = watched.echo.makeUpdateCall()
      try await call.requestStream.send(.with { $0.text = "a" })
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next()?.text == "a")
      let open = try await watched.serverData()
      #expect([open.callsStarted, open.callsSucceeded, open.callsFailed] == [1, 0, 0])
      call.cancel()
      try await watched.until { try await watched.serverData().callsFailed == 1 }
      #expect(try await watched.serverData().callsSucceeded == 0)
      #expect(try await watched.channelData().callsFailed == 1)
      #expect(try await watched.socket(watched.serverSockets().first).data.streamsFailed == 1)
      #expect(try await watched.socket(watched.channelSockets().first).data.streamsFailed == 1)
    }
  }

  @Test func anUnknownMethodIsAFailedCall() async throws {
    try await Watched.with { watched async throws in
      let unknown = Grpc_Channelz_V1_ChannelzClient(channel: watched.channel)
      let refusal = await status { _ = try await unknown.getServers(Grpc_Channelz_V1_GetServersRequest()) }
      #expect(refusal?.code == .unimplemented)
      let data = try await watched.serverData()
      #expect([data.callsStarted, data.callsSucceeded, data.callsFailed] == [1, 0, 1])
    }
  }

  @Test func windowsFollowWhatIsRead() async throws {
    var options = ServerOptions()
    options.connectionWindow = 3 << 20
    options.maxConcurrentStreams = 7
    try await Watched.with(server: options) { watched async throws in
      #expect(await watched.get("hello") == nil)
      let server = try await watched.socket(watched.serverSockets().first).data
      let client = try await watched.socket(watched.channelSockets().first).data
      // The send window of one side is the receive window of the other, except for the few bytes of the call itself.
      #expect(abs(server.remoteFlowControlWindow.value - 3 << 20) < 100)
      #expect(abs(client.localFlowControlWindow.value - 3 << 20) < 100)
      #expect(abs(server.localFlowControlWindow.value - 4 << 20) < 100)
      #expect(client.peerMaxConcurrentStreams == 7)
    }
  }

  @Test func keepalivePingsAreCounted() async throws {
    var options = ServerOptions()
    options.keepaliveInterval = .seconds(100)
    let group = try LoopGroup()
    try await Watched.with(server: options, group: group) { watched async throws in
      #expect(await watched.get("hello") == nil)
      #expect(try await watched.socket(watched.serverSockets().first).data.keepAlivesSent == 0)
      await group.loops[0].advance(by: .seconds(101))
      #expect(try await watched.socket(watched.serverSockets().first).data.keepAlivesSent == 1)
    }
  }

  @Test func aGoAwayIsReported() async throws {
    try await Watched.with { watched async throws in
      let call = watched.echo.makeUpdateCall()
      try await call.requestStream.send(.with { $0.text = "a" })
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next()?.text == "a")
      let reference = try #require(try await watched.channelSockets().first)
      #expect(try await !watched.socket(reference).data.hasReceivedGoawayError)
      let stopping = Task { await watched.server.shutDown(grace: .seconds(60)) }
      try await watched.until { try await watched.socket(reference).data.hasReceivedGoawayError }
      #expect(try await watched.socket(reference).data.receivedGoawayError.value == 0)
      call.cancel()
      await stopping.value
    }
  }
}
