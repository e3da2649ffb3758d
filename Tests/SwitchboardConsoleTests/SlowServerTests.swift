import CallTestSupport
import ConsoleMessages
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardNetwork
import SwitchboardServices
import Testing

@testable import SwitchboardConsole

/// What servers of other processes can do to a console by answering slowly, never, or too much.
@Suite(.timeLimit(.minutes(5))) struct SlowServerTests {
  /// The error of a program that says it to its users in a way of its own.
  private struct Innards: Error {
    let text: String
  }

  private struct Peer: ReflectionPeer {
    let text = "shop.example"
    let metadata: HPACKHeaders = [:]

    func lacksMethod(_ status: GRPCStatus) -> Bool { status.code == .unimplemented }
    func knownFiles(_ names: [String]) -> [Google_Protobuf_FileDescriptorProto] { [] }
    func error(for failure: SchemaFailure) -> any Error { Innards(text: failure.description) }
  }

  private let time = ManualTime()

  private func withConsole(
    _ providers: [any CallHandlerProvider],
    _ body: (Console, RemoteServer) async throws -> Void
  ) async throws {
    try await withPair(providers) { pair async throws in
      var options = ConsoleOptions()
      options.logger = .quiet
      let remote = RemoteServer(pair.channel, Peer(), address: "\(pair.address)", usesTLS: false)
      let console = try Console(nil, options, time: time, watches: false, of: remote)
      _ = try console.pages()
      try await body(console, remote)
      await console.shutDown()
    }
  }

  private func view<View: ConsoleView>(_: View.Type, of console: Console) throws -> View {
    try #require(console.views.all.compactMap { $0 as? View }.first)
  }

  /// Waits until somebody has begun to wait so long, and lets that pass.
  private func pass(_ wait: Duration) async {
    while let next = await time.nextWait(), next != wait {}
    time.advance(by: wait)
  }

  @Test func viewsOfWhatMayBeSlowWaitForNoOther() async throws {
    try await withConsole([KindsProvider()]) { console, _ async throws in
      let names = console.views.all.map { console.views.queue(of: $0, "target=server") }
      // The view of calls waits for nobody, and the form for the same as what can be called.
      #expect(names == ["health", "", "channelz", "the schema of server", "the schema of server"])
    }
  }

  @Test func descriptorsThatNeverArriveAreNotWaitedFor() async throws {
    let silent = ManyServices(count: 0)
    try await withConsole([silent]) { console, _ async throws in
      let view = try view(TryView.self, of: console)
      let query = try ViewQuery(nil)
      async let first = view.answer(query)
      try await silent.reached.value()
      await pass(TargetSchemas.patience)
      #expect(
        await first.missing == "shop.example has not sent its descriptors yet: they are shown when it has"
      )
      time.advance(by: TargetSchemas.limit)
      #expect(await view.answer(query).missing == "shop.example has not sent its descriptors within 30 s")
      // It is asked again a little later, and not at once.
      #expect(await view.answer(query).missing == "shop.example has not sent its descriptors within 30 s")
    }
  }

  @Test func connectionsThatAreNotToldInTimeAreLeftOut() async throws {
    let slow = SlowChannelz()
    try await withConsole([slow]) { console, _ async throws in
      let view = try view(ConnectionsView.self, of: console)
      let query = try ViewQuery(nil)
      async let answer = view.answer(query)
      try await slow.reached.value()
      await pass(RemoteServer.patience)
      let found = await answer
      #expect(found.missing == "shop.example does not answer within 3 s: it may have more than is shown")
      #expect(found.nodes.map(\.kind) == [.server, .listener, .server, .listener, .server, .listener])
      for node in found.nodes {
        #expect(node.name.unicodeScalars.count <= 101)
        #expect(!node.name.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" })
      }
    }
  }

  @Test func namesThatAreNewEachTimeTakeLittle() async throws {
    try await withConsole([SlowChannelz()]) { console, _ async throws in
      let view = try view(NowView.self, of: console)
      for _ in 0..<3 {
        time.advance(by: .seconds(5))
        await console.look()
      }
      let found = await view.answer(try ViewQuery(nil))
      #expect(found.methods.count > 3)
      #expect(found.methods.allSatisfy { $0.name.unicodeScalars.count <= 101 })
      #expect(found.servers.flatMap(\.addresses).allSatisfy { $0.unicodeScalars.count <= 101 })
    }
  }

  @Test func figuresThatAreNotToldInTimeAreMissing() async throws {
    try await withConsole([SlowChannelz(isSilent: true)]) { console, _ async throws in
      async let looked: Void = console.look()
      await pass(RemoteServer.patience)
      await looked
      let found = await (try view(NowView.self, of: console)).answer(try ViewQuery(nil))
      #expect(found.missing == "shop.example does not answer within 3 s")
    }
  }

  @Test func healthThatIsNotToldInTimeIsSaidToBe() async throws {
    let slow = SlowHealth()
    try await withConsole([slow]) { _, remote async throws in
      let group = try LoopGroup()
      let clock = ConsoleClock(time: time, loop: group.nextLoop())
      let health = RemoteHealth(remote, clock) { ["a", "b"] }
      async let statuses = health.statuses()
      try await slow.reached.value()
      await pass(RemoteServer.patience)
      let found = await statuses
      #expect(found.map(\.service) == ["", "a"])
      #expect(found.map(\.status) == ["SERVING", "no answer in time"])
      group.shutDown()
    }
  }

  @Test func descriptorsOfManyServicesTakeFewCalls() async throws {
    let many = ManyServices(count: ChannelTarget.mostServices + 10)
    try await withConsole([many]) { console, _ async throws in
      let found = await (try view(TryView.self, of: console)).answer(try ViewQuery(nil))
      #expect(found.missing == "It has 10 more services than the 1000 that are shown")
      #expect(many.askedCount == ChannelTarget.mostServices)
      #expect(many.streamCount <= 20)
    }
  }

  @Test func failuresAreSaidAsTheyAre() async throws {
    try await withConsole([KindsProvider()]) { console, _ async throws in
      let found = await (try view(TryView.self, of: console)).answer(try ViewQuery(nil))
      #expect(found.missing.hasPrefix("shop.example has no reflection service"))
      #expect(found.missing.contains("ReflectionService(describing: providers)"))
      #expect(!found.missing.contains("Innards"))
    }
  }
}
