import CallTestSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite(.timeLimit(.minutes(5))) struct ConnectivityTests {
  /// An address without a listener until the test binds one: the other tests use 127.0.0.1.
  private func freeAddress() async throws -> SocketAddress {
    let server = try Server(providers: [])
    let address = try server.bind(host: "127.0.0.2", port: 0)
    await server.shutDown(grace: .zero)
    return address
  }

  private func channel(to address: SocketAddress) throws -> Channel {
    var options = ChannelOptions()
    options.connectInitialBackoff = .milliseconds(5)
    options.connectMaxBackoff = .milliseconds(20)
    return try Channel(target: "\(address)", options: options)
  }

  @Test func aCallThatWaitsForReadyGetsItsServer() async throws {
    let address = try await freeAddress()
    let channel = try channel(to: address)
    let call = Task {
      try await Caller(channel: channel).get(options: CallOptions(waitForReady: true))
    }
    #expect(await channel.connectivity.contains(.transientFailure))
    #expect(await status { _ = try await Caller(channel: channel).get() }?.code == .unavailable)
    let server = try Server(providers: [TestService()])
    try await withEnd(
      { await server.shutDown(grace: .zero) },
      {
        try server.bind(host: "127.0.0.2", port: address.port)
        #expect(try await call.value == [1, 2, 3])
        await channel.shutDown(grace: .zero)
      }
    )
  }

  @Test func aCallThatWaitsForReadyKeepsItsDeadline() async throws {
    let channel = try channel(to: try await freeAddress())
    let options = CallOptions(timeout: .milliseconds(60), waitForReady: true)
    #expect(
      await status { _ = try await Caller(channel: channel).get(options: options) }?.code == .deadlineExceeded
    )
    await channel.shutDown(grace: .zero)
  }

  @Test func watchersSeeTheStatesOfAChannel() async throws {
    try await TestPair.with { pair async throws in
      var states = pair.channel.connectivity.makeAsyncIterator()
      #expect(await states.next() == .idle)
      _ = try await pair.get()
      #expect(await states.next() == .connecting)
      #expect(await states.next() == .ready)
      await pair.server.shutDown(grace: .zero)
      #expect(await states.next() == .idle)
      #expect(await status { _ = try await pair.get() }?.code == .unavailable)
      #expect(await states.next() == .connecting)
      #expect(await states.next() == .transientFailure)
      await pair.channel.shutDown(grace: .zero)
      var last = ConnectivityState.idle
      while let state = await states.next() { last = state }
      #expect(last == .shutdown)
    }
  }

  @Test func moreCallsThanOneConnectionAllowsOpenAnother() async throws {
    var options = ServerOptions()
    options.maxConcurrentStreams = 1
    try await TestPair.with(server: options) { pair async throws in
      let first = Task { try await pair.get(TestService.hang, [1]) }
      await pair.service.hanging.wait()
      #expect(try await pair.get() == [1, 2, 3])
      pair.service.cancelled.fire()
      #expect(try await first.value == [1])
    }
  }

  @Test func releasingAChannelClosesItsConnections() async throws {
    let closed = ClosedConnection()
    var options = ServerOptions()
    options.observer = closed
    try await withServer([TestService()], options: options) { _, address async throws in
      #expect(try await Caller(channel: try Channel(target: "\(address)")).get() == [1, 2, 3])
      await closed.signal.wait()
    }
  }

  @Test func releasingAServerClosesItsConnections() async throws {
    var server: Server? = try Server(providers: [TestService()])
    let address = try #require(try server?.bind(host: "127.0.0.1", port: 0))
    let channel = try Channel(target: "\(address)")
    #expect(try await Caller(channel: channel).get() == [1, 2, 3])
    server = nil
    #expect(await channel.connectivity.contains(.idle))
    #expect(await status { _ = try await Caller(channel: channel).get() }?.code == .unavailable)
  }

  private struct ClosedConnection: CallObserver {
    let signal = Signal()
    func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) { signal.fire() }
  }

  @Test func aNameIsResolved() async throws {
    try await withServer([TestService()]) { _, address async throws in
      // If the name also has an IPv6 address, there is no listener on that one.
      try await withChannel(to: "dns:///localhost:\(address.port)") { channel async throws in
        #expect(try await Caller(channel: channel).get() == [1, 2, 3])
      }
    }
  }

  @Test func aNameThatDoesNotExistIsUnavailable() async throws {
    try await withChannel(to: "nowhere.invalid:80") { channel async throws in
      let failure = await status { _ = try await Caller(channel: channel).get() }
      #expect(failure?.code == .unavailable)
      #expect(failure?.message?.contains("nowhere.invalid") == true)
    }
  }

  @Test func aChannelConnectsOnRequest() async throws {
    try await TestPair.with { pair async throws in
      let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
      pair.channel.connect()
      // The request has reached the loop when this has: otherwise the channel would stay idle, and nothing would follow.
      try #require(await transport.loop.onLoop { transport.state } != .idle)
      #expect(await pair.channel.connectivity.first { $0 != .connecting } == .ready)
    }
  }

  @Test func aChannelWithinTheProcessIsReady() async throws {
    try await withChannel(try Channel(inProcess: [TestService()])) { channel async throws in
      var states: [ConnectivityState] = []
      for await state in channel.connectivity { states.append(state) }
      #expect(states == [.ready])
    }
  }

  @Test func aServerListensOnSeveralAddresses() async throws {
    try await withServer([TestService()]) { server, first async throws in
      let path = "/tmp/switchboard-\(UInt64.random(in: 0...UInt64.max)).sock"
      let others = [
        try server.bind(host: "::1", port: 0), try server.bind(host: "localhost", port: 0),
        try server.bind(unixPath: path),
      ]
      for address in [first] + others {
        try await withChannel(to: "\(address)") { channel async throws in
          #expect(try await Caller(channel: channel).get() == [1, 2, 3])
        }
      }
    }
  }

  @Test func addressFamiliesAlternate() throws {
    let addresses = try ["1.1.1.1", "1.1.1.2", "::1", "::2", "::3"].map {
      try #require(SocketAddress.numeric($0, port: 1))
    }
    let order = Connector.interleaved(addresses).map(\.host)
    #expect(order == ["1.1.1.1", "::1", "1.1.1.2", "::2", "::3"])
  }
}
