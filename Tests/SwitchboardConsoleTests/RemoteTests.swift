import CallTestSupport
import ConsoleMessages
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardTransport
import TestSupport
import Testing

@testable import SwitchboardConsole

/// The console of a server that is in another process, as far as it can know.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RemoteTests {
  private struct Peer: ReflectionPeer {
    let text = "shop.example"
    let metadata: HPACKHeaders = [:]

    func lacksMethod(_ status: GRPCStatus) -> Bool { status.code == .unimplemented }
    func knownFiles(_ names: [String]) -> [Google_Protobuf_FileDescriptorProto] { [] }
    func error(for failure: SchemaFailure) -> any Error { failure }
  }

  private static let token = "a-token-of-the-test"
  private let time = ManualTime()

  /// Runs `body` with the console of a server, and a function that reads its views.
  private func withConsole(
    _ pair: ServerPair,
    _ body: (Console, (String) throws -> String) async throws -> Void
  ) async throws {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.logger = .quiet
    let remote = RemoteServer(pair.channel, Peer(), address: "\(pair.address)", usesTLS: false)
    let console = try Console(nil, options, time: time, watches: false, of: remote)
    let address = try console.serve(port: 0)
    try await body(console) { path in
      time.advance(by: .seconds(3))
      let answer = try PageRequest(path, ["authorization": "Bearer \(Self.token)"]).answer(at: address)
      #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer.prefix(200))")
      return answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
    }
    await console.shutDown()
  }

  @Test func channelzCountsCallsAndShowsConnections() async throws {
    let channelz = ChannelzService()
    try await withPair([FailingEcho(), channelz]) { pair async throws in
      channelz.add(pair.server, name: "front")
      try await withConsole(pair) { console, get async throws in
        await console.look()
        let client = Echo_EchoClient(channel: pair.channel)
        for number in 0..<20 {
          do { _ = try await client.get(.with { $0.text = number < 5 ? "fail" : "x" }) } catch {}
        }
        time.advance(by: .seconds(5))
        await console.look()
        let now = try Switchboard_Console_V1_NowView(jsonString: try get("/now"))
        #expect(now.process.name == "shop.example")
        #expect(now.missing == "")
        #expect(now.remark.contains("no durations"))
        #expect(now.health.isEmpty)
        #expect(now.servers.map(\.name) == ["front"])
        #expect(now.methods.map(\.name) == ["front"])
        // The console's own questions count, too.
        #expect(now.total.rate.last.map { $0 >= 4 && $0 < 6 } == true)
        #expect(now.total.errors.last == 1)
        #expect(now.total.median.last?.isNaN == true)

        let tree = try Switchboard_Console_V1_ConnectionsView(jsonString: try get("/connections"))
        #expect(tree.nodes.map(\.kind) == [.server, .listener, .connection])
        let id = try #require(tree.nodes.last?.id)
        let one = try Switchboard_Console_V1_ConnectionsView(
          jsonString: try get("/connections?selected=\(id)")
        )
        #expect(one.selected.properties.contains { $0.name == "Streams" && $0.value != "0" })
        let folded = try Switchboard_Console_V1_ConnectionsView(
          jsonString: try get("/connections?closed=server-1")
        )
        #expect(folded.nodes.map(\.kind) == [.server])
      }
    }
  }

  @Test func whatAServerDoesNotTellIsSaid() async throws {
    try await withPair([FailingEcho(), HealthService()]) { pair async throws in
      try await withConsole(pair) { _, get async throws in
        let now = try Switchboard_Console_V1_NowView(jsonString: try get("/now"))
        #expect(
          now.missing
            == "shop.example has no channelz service, so that neither its calls nor its connections are known"
        )
        #expect(now.health.map(\.status) == ["SERVING"])
        let tree = try Switchboard_Console_V1_ConnectionsView(jsonString: try get("/connections"))
        #expect(tree.missing == now.missing)
      }
    }
  }
}
