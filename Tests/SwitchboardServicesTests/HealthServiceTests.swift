import CallTestSupport
import ServerTestSupport
import Switchboard
import Testing

@testable import SwitchboardServices

@Suite(.timeLimit(.minutes(5))) struct HealthServiceTests {
  @Test func answersChecks() async throws {
    let health = HealthService()
    health.set(.notServing, for: "shop.Shop")
    health.set(.unknown, for: "shop.Stock")
    try await withChannel(to: [health]) { channel async throws in
      let client = Grpc_Health_V1_HealthClient(channel: channel)
      func check(_ name: String) async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus {
        try await client.check(.with { $0.service = name }).status
      }
      #expect(try await check("") == .serving)
      #expect(try await check("shop.Shop") == .notServing)
      #expect(try await check("shop.Stock") == .unknown)
      #expect(await status { _ = try await check("shop.Sho") }?.code == .notFound)
      health.set(.serving, for: "shop.Shop")
      #expect(try await check("shop.Shop") == .serving)
      let listed = try await client.list(Grpc_Health_V1_HealthListRequest()).statuses.mapValues(\.status)
      #expect(listed == ["": .serving, "shop.Shop": .serving, "shop.Stock": .unknown])
      health.remove("shop.Shop")
      #expect(await status { _ = try await check("shop.Shop") }?.code == .notFound)
    }
  }

  private final class Warnings: LogHandler {
    private let state = Locked<[[String: String]]>([])
    var all: [[String: String]] { state.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard message == "the health was set of a service that the server does not have" else { return }
      state.withLock { $0.append(metadata) }
    }
  }

  /// Before and after the server was made, and each name once.
  @Test func aServiceThatTheServerLacksIsReported() throws {
    let (health, warnings) = (HealthService(), Warnings())
    health.set(.serving, for: "grpc.health.v1.Helth")
    health.set(.serving, for: "grpc.health.v1.Health")
    health.set(.serving, for: "readiness")
    #expect(warnings.all.isEmpty)
    var options = ServerOptions()
    options.logger = Logger(warnings)
    _ = try Server(providers: [health], options: options)
    #expect(warnings.all.map { $0["name"] } == ["grpc.health.v1.Helth"])
    #expect(warnings.all.first?["hint"] == "did you mean grpc.health.v1.Health?")
    #expect(warnings.all.first?["services"] == "grpc.health.v1.Health")
    for name in ["grpc.health.v1.Helth", "shop.Shop", "shop.Shop", "Healt", "liveness", ""] {
      health.set(.notServing, for: name)
    }
    #expect(warnings.all.dropFirst().map { $0["name"] } == ["shop.Shop", "Healt"])
    #expect(warnings.all.dropFirst().map { $0["hint"] } == [nil, "did you mean grpc.health.v1.Health?"])
  }

  @Test func aServiceThatNoServerHasSaysSo() throws {
    let messages = LogEntries()
    do { HealthService(Logger(messages)).set(.serving, for: "shop.Shop") }
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.message.contains("add it to the server's providers") == true)
    do { _ = HealthService(Logger(messages)) }
    do {
      let health = HealthService(Logger(messages))
      health.set(.serving, for: "liveness")
      _ = try Server(providers: [health])
    }
    #expect(messages.all.count == 1)
  }

  /// A name from a client is repeated only if it is not too long.
  @Test func aLongNameIsNotRepeated() async throws {
    try await withChannel(to: [HealthService()]) { channel async throws in
      let client = Grpc_Health_V1_HealthClient(channel: channel)
      func check(_ name: String) async -> GRPCStatus? {
        await status { _ = try await client.check(.with { $0.service = name }) }
      }
      #expect(await check("shop.Sho")?.message == "unknown service \"shop.Sho\"")
      let failure = await check(String(repeating: "x", count: 1_000_000))
      #expect(failure?.code == .notFound)
      #expect(failure?.message == "unknown service")
    }
  }

  @Test func notifiesWatchersOfChanges() async throws {
    let health = HealthService()
    try await withChannel(to: [health]) { channel async throws in
      let client = Grpc_Health_V1_HealthClient(channel: channel)
      var changes = client.watch(.with { $0.service = "shop.Shop" }).makeAsyncIterator()
      #expect(try await changes.next()?.status == .serviceUnknown)
      health.set(.serving, for: "shop.Shop")
      #expect(try await changes.next()?.status == .serving)
      // Setting the same status again is not a change, and neither is a change to another service.
      health.set(.serving, for: "shop.Shop")
      health.set(.notServing)
      health.set(.notServing, for: "shop.Shop")
      #expect(try await changes.next()?.status == .notServing)
      health.remove("shop.Shop")
      #expect(try await changes.next()?.status == .serviceUnknown)
    }
  }

  @Test func shuttingDownNotifiesWatchersAndEndsTheirCalls() async throws {
    let health = HealthService()
    try await withPair([health]) { pair async throws in
      let client = Grpc_Health_V1_HealthClient(channel: pair.channel)
      var changes = client.watch(Grpc_Health_V1_HealthCheckRequest()).makeAsyncIterator()
      #expect(try await changes.next()?.status == .serving)
      // Calls in progress may take an hour: the watcher's must not.
      await pair.server.shutDown(grace: .seconds(3600))
      #expect(try await changes.next()?.status == .notServing)
      #expect(await status { _ = try await changes.next() }?.code == .unavailable)
      #expect(health.status() == .notServing)
      health.set(.serving)
      #expect(health.status() == .notServing)
    }
  }

  @Test func aWatcherThatIsGoneIsRemoved() async throws {
    let health = HealthService()
    try await withChannel(to: [health]) { channel async throws in
      let client = Grpc_Health_V1_HealthClient(channel: channel)
      let call = client.makeWatchCall(Grpc_Health_V1_HealthCheckRequest())
      var changes = call.responseStream.makeAsyncIterator()
      #expect(try await changes.next()?.status == .serving)
      #expect(health.watcherCount == 1)
      call.cancel()
      while !Task.isCancelled, health.watcherCount > 0 { await Task.yield() }
    }
  }
}
