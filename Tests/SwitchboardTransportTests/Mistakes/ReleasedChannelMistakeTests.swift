import CallTestSupport
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// A call that starts when its channel is gone says that the channel was released, and not that somebody shut it down.
@Suite(.timeLimit(.minutes(5))) struct ReleasedChannelMistakeTests {
  /// A transport whose channel was released.
  private func released(_ make: () throws -> Channel) rethrows -> any ByteTransport { try make().transport }

  @Test func aCallOnAReleasedChannelSaysSo() async throws {
    let transport = try released { try Channel(target: "localhost:1") }
    let status = await status { _ = try await Caller(channel: Channel(transport)).get() }
    #expect(status == .channelReleased)
    #expect(status?.message?.contains("keep it, or a client that has it, while calls are made") == true)
  }

  @Test func theSameWithinAProcess() async throws {
    let transport = try released { try Channel(inProcess: [TestService()]) }
    #expect(await status { _ = try await Caller(channel: Channel(transport)).get() } == .channelReleased)
  }

  @Test func aChannelThatWasShutDownSaysThat() async throws {
    let channel = try Channel(target: "localhost:1")
    await channel.shutDown(grace: .zero)
    #expect(await status { _ = try await Caller(channel: channel).get() } == .channelShutDown)
  }
}
