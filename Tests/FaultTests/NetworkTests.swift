import FaultSupport
import Foundation
import HTTP2TestSupport
import Switchboard
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// A network that is cut, goes silent and is restored, simulated by a relay, which works on every system.
@Suite(.timeLimit(.minutes(5))) struct NetworkTests {
  /// A server, a channel with keepalive, and the relay between them.
  private struct Line: Sendable {
    let provider = LingeringProvider(.beforeAnswer)
    let server: Server
    let serverLoop: Loop
    let relay: Relay
    let channel: Channel
    let loop: Loop
    let client = Ledger()
    let observer = Ledger()

    init() throws {
      let (serverGroup, group) = (try LoopGroup(), try LoopGroup())
      (serverLoop, loop) = (serverGroup.loops[0], group.loops[0])
      var serverOptions = ServerOptions()
      serverOptions.keepaliveInterval = .seconds(100)
      serverOptions.keepaliveTimeout = .seconds(10)
      serverOptions.observer = observer
      server = try Server(providers: [provider], options: serverOptions, group: serverGroup)
      relay = try Relay(to: server.bind(host: "127.0.0.1", port: 0).port)
      var options = ChannelOptions.impatient
      options.keepaliveInterval = .seconds(10)
      options.keepaliveTimeout = .seconds(5)
      options.observer = client
      channel = try Channel(target: "127.0.0.1:\(relay.port)", options: options, group: group)
    }

    /// One call of each kind, all with running handlers.
    func start() async -> [Task<GRPCStatus, Never>] {
      let calls = CallKind.allCases.map { kind in Task { await FaultCall(kind, on: channel).outcome() } }
      await provider.until { $0.lingering == calls.count }
      return calls
    }

    func end() async {
      await channel.shutDown(grace: .zero)
      await server.shutDown(grace: .zero)
      relay.stop()
      #expect(client.books.isEven)
      #expect(observer.books.isEven)
    }
  }

  @Test func aCutEndsCallsAndItsEndServesWaitingCalls() async throws {
    let line = try Line()
    let calls = await line.start()
    await line.relay.cut()
    for call in calls { #expect(await call.value.code == .unavailable) }
    await line.provider.until { $0.released == calls.count }
    #expect(await line.channel.ping().code == .unavailable)
    let patient = Task { await line.channel.ping(.patient) }
    await line.relay.heal()
    #expect(await patient.value == .ok)
    await line.end()
  }

  /// The clock is advanced: the client pings after ten seconds of silence and gives up five seconds later.
  @Test func silenceEndsCallsAndItsEndServesWaitingCalls() async throws {
    let line = try Line()
    let calls = await line.start()
    await line.relay.stall()
    while !Task.isCancelled, line.client.books.connections > 0 { await line.loop.advance(by: .seconds(6)) }
    for call in calls {
      let status = await call.value
      #expect(status.code == .unavailable)
      #expect(status.message == "the peer has not answered a keepalive ping")
    }
    // The silent relay still accepts connections, so this call waits for a preface.
    let patient = Task { await line.channel.ping(.patient) }
    await line.channel.until { $0.state == .connecting }
    await line.relay.heal()
    #expect(await patient.value == .ok)
    await line.provider.until { $0.released == calls.count }
    await line.end()
  }

  /// The same on the server's side: its handlers are cancelled when the network loses a client.
  @Test func silenceEndsHandlers() async throws {
    let line = try Line()
    let calls = await line.start()
    await line.relay.stall()
    while line.observer.books.connections > 0 { await line.serverLoop.advance(by: .seconds(50)) }
    await line.provider.until { $0.released == calls.count }
    await line.observer.until { $0.connections == 0 }
    await line.relay.heal()
    for call in calls { #expect(await call.value.code == .unavailable) }
    #expect(await line.channel.ping(.patient) == .ok)
    await line.end()
  }

  /// A silence too short to be noticed only delays a call.
  @Test func callsSurviveAShortStall() async throws {
    let line = try Line()
    #expect(await line.channel.ping() == .ok)
    await line.relay.stall()
    let call = Task { await line.channel.ping() }
    await line.client.until { $0.started == 2 }
    await line.loop.advance(by: .seconds(11))
    await line.relay.heal()
    #expect(await call.value == .ok)
    await line.end()
  }
}
