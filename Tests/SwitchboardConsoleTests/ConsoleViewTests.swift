import CallTestSupport
import ConsoleMessages
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTelemetry
import TestSupport
import Testing

@testable import SwitchboardConsole

/// What the views answer in JSON, with real servers and calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsoleViewTests {
  private static let token = "a-token-of-the-test"

  private func console(_ telemetry: Telemetry?, _ time: ManualTime = ManualTime()) throws -> Console {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.logger = .quiet
    return try Console(telemetry, options, time: time, watches: false)
  }

  private func json(_ path: String, at address: SocketAddress) throws -> String {
    let answer = try PageRequest(path, ["authorization": "Bearer \(Self.token)"]).answer(at: address)
    #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer.prefix(200))")
    return answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
  }

  private func now(_ query: String = "", at address: SocketAddress) throws -> Switchboard_Console_V1_NowView {
    try Switchboard_Console_V1_NowView(jsonString: try json("/now?\(query)", at: address))
  }

  private func connections(_ query: String = "", at address: SocketAddress) throws
    -> Switchboard_Console_V1_ConnectionsView
  {
    try Switchboard_Console_V1_ConnectionsView(jsonString: try json("/connections?\(query)", at: address))
  }

  @Test func nowHasTheCallsOfBothSides() async throws {
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "shop"))
    let time = ManualTime()
    let console = try console(telemetry, time)
    var options = ServerOptions()
    options.observer = telemetry.observer()
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer()
    try await withPair([FailingEcho()], options: options, channel: channelOptions) { pair async throws in
      console.add(pair.server, name: "front")
      let client = Echo_EchoClient(channel: pair.channel)
      for number in 0..<20 {
        do { _ = try await client.get(.with { $0.text = number < 5 ? "fail" : "x" }) } catch {}
      }
      time.advance(by: .seconds(5))
      await console.look()
      let address = try console.serve(port: 0)
      let view = try now("selected=echo.Echo%2FGet", at: address)
      #expect(view.process.name == "shop")
      #expect(view.servers.map(\.name) == ["front"])
      #expect(view.servers.first?.addresses == ["\(pair.address)"])
      #expect(view.servers.first?.connections == 1)
      #expect(view.servers.first?.isDraining == false)
      #expect(view.loops.map(\.connections) == [1])
      #expect(view.methodCount == 1)
      #expect(view.methods.first?.name == "echo.Echo/Get")
      #expect(view.methods.first?.rate == 4)
      #expect(view.methods.first?.errors == 1)
      #expect(view.selected.series.median.first.map { $0 > 0 } == true)
      #expect(view.total.rate == [4])
      time.advance(by: .seconds(1))
      let client1 = try now("side=client", at: address)
      #expect(client1.methods.map(\.name) == ["echo.Echo/Get"])
      #expect(client1.methods.first?.target == "\(pair.address)")
      #expect(client1.methods.first?.rate == 4)
      #expect(try now("filter=nothing", at: address).methodCount == 0)
      #expect(try now("count=0", at: address).methods.isEmpty)
    }
    await console.shutDown()
    await telemetry.shutDown()
  }

  @Test func theFiguresAreReadEveryFiveSeconds() async throws {
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "shop"))
    let time = ManualTime()
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.logger = .quiet
    let console = try Console(telemetry, options, time: time)
    let address = try console.serve(port: 0)
    for count in 1...3 {
      #expect(await time.nextWait() == .seconds(5))
      #expect(try now(at: address).total.rate.count == count - 1)
      time.advance(by: .seconds(5))
    }
    await console.shutDown()
    await telemetry.shutDown()
  }

  @Test func withoutTelemetryItSaysWhatIsMissing() async throws {
    let console = try console(nil)
    let address = try console.serve(port: 0)
    #expect(try now(at: address).missing.contains("Console(telemetry:)"))
    var options = TelemetryOptions(serviceName: "shop")
    options.countsCalls = false
    let telemetry = try Telemetry(options)
    let other = try self.console(telemetry)
    #expect(try now(at: try other.serve(port: 0)).missing.contains("TelemetryOptions.countsCalls"))
    await console.shutDown()
    await other.shutDown()
    await telemetry.shutDown()
  }

  @Test func connectionsAreATree() async throws {
    let time = ManualTime()
    let console = try console(nil, time)
    try await withPair([FailingEcho()]) { pair async throws in
      console.add(pair.server, name: "front")
      console.add(pair.channel, name: "back")
      _ = try await Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "x" })
      let address = try console.serve(port: 0)
      let view = try connections(at: address)
      #expect(
        view.nodes.map { "\($0.level) \($0.kind)" } == [
          "1 server", "2 listener", "2 connection", "1 channel", "2 policy", "3 subchannel", "4 connection",
        ]
      )
      #expect(view.nodeCount == 7 && view.nodes[4].name == "pick_first")
      #expect(view.nodes.map(\.state) == ["serving", "", "", "READY", "READY", "READY", ""])
      #expect(view.nodes[0].callsStarted == 1)
      #expect(try connections("from=5&count=1", at: address).nodes.map(\.kind) == [.subchannel])
      // What is folded is not counted.
      #expect(try connections("closed=server-1&closed=\(view.nodes[5].id)", at: address).nodeCount == 4)
      #expect(try connections("closed=server-1&closed=\(view.nodes[4].id)", at: address).nodeCount == 3)
      // What is found is shown with what is above it.
      let name = String(view.nodes[6].name.split(separator: ":").last ?? "")
      let found = try connections("filter=\(name)", at: address)
      #expect(found.nodes.contains { $0.kind == .connection } && found.nodes.contains { $0.kind == .channel })
      #expect(try connections("filter=nothing", at: address).nodeCount == 0)
      for node in view.nodes {
        time.advance(by: .seconds(1))
        let detail = try connections("selected=\(node.id)", at: address).selected
        #expect(detail.id == node.id && !detail.properties.isEmpty, "\(node.id)")
      }
      #expect(try connections("selected=connection-1-99", at: address).hasSelected == false)
      #expect(try connections("selected=nonsense", at: address).hasSelected == false)
    }
    await console.shutDown()
  }

  @Test func whatWasReleasedIsGone() async throws {
    let time = ManualTime()
    let console = try console(nil, time)
    let address = try console.serve(port: 0)
    do {
      let server = try Server(providers: [FailingEcho()])
      console.add(server, name: "short-lived")
      #expect(try connections(at: address).nodes.map(\.name) == ["short-lived"])
    }
    time.advance(by: .seconds(1))
    #expect(try connections(at: address).nodes.isEmpty)
    await console.shutDown()
  }

  @Test(arguments: ["fliter=x", "count=1000", "side=both"])
  func aWrongQueryIsAnsweredInWords(_ query: String) async throws {
    let console = try console(nil)
    let address = try console.serve(port: 0)
    let answer = try PageRequest("/now?\(query)", ["authorization": "Bearer \(Self.token)"]).answer(
      at: address
    )
    #expect(answer.hasPrefix("HTTP/1.1 400 "))
    await console.shutDown()
  }

  /// On the port of a server that also serves calls, below a path.
  @Test func thePageMaySitBesideCalls() async throws {
    let console = try console(nil)
    var options = ServerOptions()
    options.pages = try console.pages()
    try await withPair([FailingEcho()], options: options) { pair async throws in
      let page = try PageRequest("/console", ["accept": "text/html"]).answer(at: pair.address)
      #expect(page.contains("data-prefix=\"/console\"") && page.contains("src=\"/console/console.js\""))
      #expect(try json("/console/connections", at: pair.address) == "{}")
      #expect(try PageRequest("/now", [:]).answer(at: pair.address).hasPrefix("HTTP/1.1 404 "))
      let answer = try await Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "x" })
      #expect(answer.text == "x")
    }
    await console.shutDown()
  }

  @Test(arguments: [
    "", "console", "/console/", "/a b", "/\"><script>", "//", "//evil.example", "/..", "/a/../b", "/./a",
    "/caf\u{e9}",
  ])
  func aPathThatIsNone(_ path: String) async throws {
    let console = try console(nil)
    let failure = #expect(throws: GRPCStatus.self) { try console.pages(path: path) }
    #expect(failure?.message?.hasPrefix("the path of a console begins with a slash") == true)
    await console.shutDown()
  }

  @Test func aConsoleThatWasShutDownServesNothing() async throws {
    let console = try console(nil)
    await console.shutDown()
    let failure = #expect(throws: GRPCStatus.self) { try console.serve(port: 0) }
    #expect(failure?.code == .failedPrecondition)
    await console.shutDown()
  }

  @Test(arguments: [0, -1, 10_001])
  func optionsThatCannotBeMeant(_ count: Int) {
    var options = ConsoleOptions()
    options.maxMethods = count
    let failure = #expect(throws: GRPCStatus.self) { try Console(options: options) }
    #expect(failure?.message?.contains("ConsoleOptions.maxMethods") == true)
  }
}
