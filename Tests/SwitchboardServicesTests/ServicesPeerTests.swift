import Foundation
import ServerTestSupport
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
    let all = services + [try ReflectionService(describing: services)]
    try await withServer(all) { server, address async throws in
      channelz.add(server, name: "echo")
      // A server of its own, so that the peer's connection is the only one of the server that is shown.
      try await withChannel(to: []) { channel async throws in
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
      }
    }
  }
}
