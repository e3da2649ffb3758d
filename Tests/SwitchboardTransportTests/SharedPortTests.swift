import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Servers whose loops listen on one port, each for itself.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SharedPortTests {
  private static func options() -> ServerOptions {
    var options = ServerOptions()
    options.reusePort = true
    return options
  }

  @Test(arguments: ["127.0.0.1", "::1"]) func everyLoopHasItsListener(_ host: String) async throws {
    let group = try LoopGroup(count: 3)
    let server = try Server(providers: [TestService()], options: Self.options(), group: group)
    let address = try server.bind(host: host, port: 0)
    #expect(address.port > 0)
    #expect(server.core.listeners.map { $0.address } == [address, address, address])
    #expect(await group.loops[0].onLoop { group.loops[0].openHandles } == 1)
    await server.shutDown(grace: .zero)
    for loop in group.loops { await loop.until { loop.openHandles == 0 } }
    // The port is free again, for one listener alone.
    let other = try Server(providers: [])
    #expect(try other.bind(host: host, port: address.port) == address)
    await other.shutDown(grace: .zero)
  }

  /// The system chooses by a hash of the addresses: 200 connections leave none of two loops without any.
  @Test func connectionsAreSpreadAndStayOnTheirLoops() async throws {
    let group = try LoopGroup(count: 2)
    let peers = try await withServer([TestService()], options: Self.options(), group: group) {
      server,
      address async throws in
      let peers = try (0..<200).map { _ in try FramePeer(address) }
      for peer in peers { #expect(peer.next(FramePeer.Kind.settings) != nil) }
      let loops = server.core.connections.map { ObjectIdentifier($0.loop) }
      #expect(loops.count == 200)
      for loop in group.loops {
        let share = loops.count { $0 == ObjectIdentifier(loop) }
        #expect(share > 20, "\(share) of 200")
      }
      try await withChannel(to: "\(address)", group: group) { caller async throws in
        #expect(try await Caller(channel: caller).get() == [1, 2, 3])
      }
      return peers
    }
    for peer in peers { #expect(peer.raw.readToEnd()) }
  }

  @Test func aCallFinishesWhenTheServerShutsDown() async throws {
    let group = try LoopGroup(count: 2)
    let service = TestService()
    try await withPair([service], options: Self.options(), group: group) { pair async throws in
      let (server, channel) = (pair.server, pair.channel)
      let call = Task(executorPreference: channel.eventLoop) {
        try await Caller(channel: channel).get(TestService.hang)
      }
      await service.hanging.wait()
      let stop = Task { await server.shutDown(grace: .seconds(60)) }
      for loop in group.loops { await loop.until { server.core.listeners.isEmpty } }
      service.cancelled.fire()
      #expect(try await call.value == [1, 2, 3])
      await stop.value
    }
  }

  @Test func onlyServersThatShareThePortCanBindIt() async throws {
    let first = try Server(providers: [], options: Self.options())
    let second = try Server(providers: [], options: Self.options())
    let third = try Server(providers: [])
    let address = try first.bind(host: "127.0.0.1", port: 0)
    let port = address.port
    #expect(try second.bind(host: "127.0.0.1", port: port) == address)
    let status = #expect(throws: GRPCStatus.self) { try third.bind(host: "127.0.0.1", port: port) }
    #expect(status?.message == "cannot listen on ipv4:127.0.0.1:\(port): address already in use")
    for server in [first, second, third] { await server.shutDown(grace: .zero) }
  }

  @Test func aUnixSocketHasOneListener() async throws {
    let path = "/tmp/switchboard-shared-\(UInt64.random(in: 0...UInt64.max)).sock"
    let server = try Server(providers: [], options: Self.options(), group: try LoopGroup(count: 2))
    _ = try server.bind(unixPath: path)
    #expect(server.core.listeners.count == 1)
    await server.shutDown(grace: .zero)
  }

  @Test func aStoppedServerAndEndedLoopsLeaveNothing() async throws {
    let group = try LoopGroup(count: 2)
    let stopped = try Server(providers: [], options: Self.options(), group: group)
    await stopped.shutDown(grace: .zero)
    #expect(throws: GRPCStatus.serverStopped) { try stopped.bind(host: "127.0.0.1", port: 0) }
    let late = try Server(providers: [], options: Self.options(), group: group)
    group.shutDown()
    while !Task.isCancelled, (try? await group.loops[1].sleep(for: .zero)) != nil {}
    #expect(throws: GRPCStatus.loopEnded) { try late.bind(host: "127.0.0.1", port: 0) }
    #expect(late.core.listeners.isEmpty)
  }

  @Test func sharingThePortOfAnInvalidDescriptorFails() {
    // No descriptor has this number.
    #expect(!ListeningSocket.sharePort(-1))
    #expect(GRPCStatus.cannotSharePort.message?.hasPrefix("reusePort: ") == true)
  }
}
