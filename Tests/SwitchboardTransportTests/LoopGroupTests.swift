import CallTestSupport
import Foundation
import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Loops that are shut down while in use.
@Suite(.timeLimit(.minutes(5))) struct LoopGroupTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "group-\(UUID().uuidString)").path

  private func hasEnded(_ loop: Loop) async {
    // It sleeps repeatedly while it runs.
    while !Task.isCancelled, (try? await loop.sleep(for: .zero)) != nil {}
  }

  @Test func theCallsOfAChannelThatWasIdleFail() async throws {
    let group = try LoopGroup()
    let channel = try Channel(target: "unix:\(path)", group: group)
    group.shutDown()
    await hasEnded(group.loops[0])
    let caller = Caller(channel: channel)
    var patient = CallOptions(timeout: .seconds(300))
    patient.waitForReady = true
    for options in [CallOptions(), patient] {
      #expect(await status { _ = try await caller.get(options: options) } == .channelShutDown)
    }
    #expect(await status { _ = try await caller.collect(TestService.collect, [[1]]) } == .channelShutDown)
    #expect(
      await status { _ = try await caller.expand(TestService.expand, [1]).collected() } == .channelShutDown
    )
    #expect(await status { _ = try await caller.update([[1]]).collected() } == .channelShutDown)
    channel.connect()
    _ = await channel.snapshot()
    await channel.shutDown(grace: .seconds(60))
  }

  @Test func connectionsAndListenersContinue() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let server = try Server(providers: [TestService()], group: group)
    let address = try server.bind(unixPath: path)
    let channel = try Channel(target: "\(address)", group: group)
    let caller = Caller(channel: channel)
    #expect(try await caller.get() == [1, 2, 3])
    group.shutDown()
    #expect(try await caller.get() == [1, 2, 3])
    // New ones can be made too.
    let other = try Channel(target: "\(address)", group: group)
    #expect(try await Caller(channel: other).get() == [1, 2, 3])
    await other.shutDown(grace: .seconds(60))
    #expect(try await caller.get() == [1, 2, 3])
    await channel.shutDown(grace: .seconds(60))
    await server.shutDown(grace: .seconds(60))
    await hasEnded(loop)
    #expect(await status { _ = try await caller.get() } == .channelShutDown)
    let late = try Server(providers: [], group: group)
    #expect(await status { _ = try late.bind(unixPath: path) } == .loopEnded)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  /// A call that waits for a connection when its loop is shut down. Between two attempts there is neither a connection
  /// nor an attempt in progress.
  private func withWaitingCall(
    _ body: (HTTP2ClientTransport, Channel, Task<[UInt8], any Error>) async throws -> Void
  ) async throws {
    let group = try LoopGroup()
    let channel = try Channel(target: "unix:\(path)", group: group)
    let transport = try #require(channel.transport as? HTTP2ClientTransport)
    let call = Task {
      try await Caller(channel: channel).get(options: CallOptions.with { $0.waitForReady = true })
    }
    await transport.loop.until { transport.state == .transientFailure && !transport.isConnecting }
    group.shutDown()
    try await body(transport, channel, call)
    await hasEnded(transport.loop)
  }

  @Test func callsThatWaitForAConnectionGetIt() async throws {
    try await withWaitingCall { transport, channel, call async throws in
      let server = try Server(providers: [TestService()])
      try server.bind(unixPath: path)
      // The next attempt starts soon.
      while !Task.isCancelled, await transport.loop.onLoop({ transport.connections.isEmpty }) {
        await transport.loop.advance(by: .seconds(1))
      }
      #expect(try await call.value == [1, 2, 3])
      await channel.shutDown(grace: .seconds(60))
      await server.shutDown(grace: .zero)
    }
  }

  @Test func waitingCallsEndWithTheChannel() async throws {
    try await withWaitingCall { _, channel, call async throws in
      await channel.shutDown(grace: .seconds(60))
      #expect(await status { _ = try await call.value } == .channelShutDown)
    }
  }
}
