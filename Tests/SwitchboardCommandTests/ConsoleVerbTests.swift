import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// The page of a server of another process.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsoleVerbTests {
  private struct Echo: EchoingProvider {}

  /// A command that serves a page.
  private final class Page {
    private let process: ChildProcess
    private let address: String
    private let token: String

    init(_ arguments: String...) throws {
      process = try ChildProcess(Command.path(ofProduct: "switchboard"), ["console"] + arguments)
      let line = try #require(process.line())
      let link = try #require(line.split(separator: " ").last)
      let parts = link.split(separator: "#token=")
      let page = String(try #require(parts.first))
      // Paths begin with its last slash.
      (address, token) = (String(page.dropLast()), String(try #require(parts.last)))
      #expect(line.hasPrefix("the console is at http://127.0.0.1:"))
    }

    func get(_ path: String) throws -> String { try curl([address + path]) }

    func post(_ path: String, _ body: String) throws -> String {
      try curl([address + path, "-H", "content-type: application/json", "--data-raw", body])
    }

    private func curl(_ words: [String]) throws -> String {
      let run = try Command.run("curl", ["-sS", "-H", "authorization: Bearer \(token)"] + words)
      #expect(run.exitCode == 0, "\(run.errors)")
      return String(decoding: run.output, as: UTF8.self)
    }

    /// Ends it as Ctrl-C does.
    func end() {
      process.send(SIGINT)
      #expect(process.exitCode() == 0)
    }

    deinit { process.stop() }
  }

  @Test func aServerOfOursIsShown() async throws {
    let channelz = ChannelzService()
    let providers: [any CallHandlerProvider] = [Echo(), HealthService(), channelz]
    try await withServer(providers + [try ReflectionService(describing: providers)]) {
      server,
      address async throws in
      channelz.add(server, name: "front")
      let page = try Page("\(address)", "--allow-calls")
      let tree = try page.get("/connections")
      #expect(tree.contains(#""name":"front""#), "\(tree)")
      #expect(tree.contains(#""kind":"CONNECTION""#), "\(tree)")
      let methods = try page.get("/try?filter=echo.Echo/")
      #expect(methods.contains("echo.Echo/Get"), "\(methods)")
      let answer = try page.post(
        "/try",
        #"{"target":"server","method":"echo.Echo/Get","requests":["{\"text\":\"x\"}"],"endsRequests":true}"#
      )
      #expect(answer.contains(#""id":"#), "\(answer)")
      let now = try page.get("/now")
      #expect(now.contains(#""status":"SERVING""#), "\(now)")
      #expect(now.contains("knows no methods, no durations"), "\(now)")
      page.end()
    }
  }

  @Test func aServerOfGRPCIOIsShown() throws {
    let server = try GRPCIOServer()
    let page = try Page(server.target, "--allow-calls")
    #expect(try page.get("/try?filter=shop.Shop/").contains("shop.Shop/Buy"))
    #expect(try page.get("/form?target=server&selected=shop.Order").contains(#""name":"shop.Order""#))
    let now = try page.get("/now")
    #expect(now.contains(#""service":"shop.Shop","status":"SERVING""#), "\(now)")
    #expect(now.contains("has no channelz service"), "\(now)")
    #expect(try page.get("/connections").contains("has no channelz service"))
    page.end()
  }

  @Test func withoutTheFlagThePageOnlyShows() throws {
    let server = try GRPCIOServer()
    let page = try Page(server.target)
    #expect(try page.get("/try").contains("permissions lacks .call"))
    #expect(try !page.get("/session").contains("permissions"))
    page.end()
  }

  @Test func aServerThatIsNotThereHasNoPage() throws {
    let run = try Run("console", "localhost:1")
    #expect(run.exitCode == 14)
    #expect(run.output == "")
  }
}
