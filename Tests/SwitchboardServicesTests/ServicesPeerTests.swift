import Foundation
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// All services, with grpcio's clients for them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ServicesPeerTests {
  @Test func grpciosClientsUnderstandTheServices() async throws {
    let (health, channelz) = (HealthService(), ChannelzService())
    health.set(.serving, for: "echo.Echo")
    let services: [any CallHandlerProvider] = [TalkingEcho(), health, channelz]
    let server = try Server(providers: services + [try ReflectionService(describing: services)])
    let address = try server.bind(host: "127.0.0.1", port: 0)
    channelz.add(server, name: "echo")
    // A server of its own, so that the peer's connection is the only one of the server that is shown.
    let other = try Server(providers: [])
    let channel = try Channel(target: "\(try other.bind(host: "127.0.0.1", port: 0))")
    channelz.add(channel)
    channel.connect()
    for await state in channel.connectivity where state == .ready { break }

    let peer = try PythonPeer(
      "services_peer.py",
      ["\(address)", TestFolders.root.appending(path: "Protos").path]
    )
    var lines: [String] = []
    while let line = peer.line() {
      lines.append(line)
      if line == "watching" { health.set(.notServing, for: "echo.Echo") }
    }
    peer.stop()
    #expect(lines == ["watching", "done"])
    await channel.shutDown(grace: .zero)
    await other.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
  }
}
