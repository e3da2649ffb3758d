import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardInterceptors
import Testing

@Suite(.timeLimit(.minutes(5))) struct CallLoggingTests {
  @Test func bothEndsOfACallAreLoggedOnBothSides() async throws {
    let handler = KeepingHandler()
    let clock = TestClock()
    var logging = CallLogging(logger: Logger(handler, minimumLevel: .trace), now: clock.now)
    logging.loggedMetadata = ["request-id"]
    try await withEcho(TestProvider(), client: [logging], server: [logging]) { client async throws in
      var options = client.defaultCallOptions
      options.initialMetadata = ["request-id": "7", "authorization": "secret"]
      _ = try await client.get(request("x"), callOptions: options)
    }
    let start = ["path": "/echo.Echo/Get", "request-id": "7"]
    let end = [
      "path": "/echo.Echo/Get", "status": "ok (0): OK", "duration": "0.0 seconds", "requests": "1",
      "responses": "1",
    ]
    #expect(
      handler.entries == [
        Entry(.debug, "call started", start.merging(["side": "client"]) { $1 }),
        Entry(.debug, "call started", start.merging(["side": "server"]) { $1 }),
        Entry(.info, "call succeeded", end.merging(["side": "server"]) { $1 }),
        Entry(.info, "call succeeded", end.merging(["side": "client"]) { $1 }),
      ]
    )
  }

  @Test func failuresAndStreamsAreLogged() async throws {
    let handler = KeepingHandler()
    let logger = Logger(handler, minimumLevel: .info)
    // Without a logger, it uses the call's.
    try await withEcho(TestProvider(), client: [CallLogging()], logger: logger) { client async throws in
      #expect(await status { _ = try await client.get(request("fail")) }?.code == .notFound)
      for try await _ in client.update(["a", "b"].map { request($0) }) {}
    }
    let entries = handler.entries.filter { $0.message.hasPrefix("call") }
    #expect(entries.map(\.level) == [.warning, .info])
    #expect(entries.map(\.fields["status"]) == ["not found (5): no such text", "ok (0): OK"])
    #expect(entries.map(\.fields["requests"]) == ["1", "2"])
    #expect(entries.map(\.fields["responses"]) == ["0", "2"])
  }

  @Test func withoutALoggerOfTheCallTheChannelsHasItsFailure() async throws {
    let handler = KeepingHandler()
    var options = ChannelOptions()
    options.logger = Logger(handler, minimumLevel: .warning)
    options.interceptorFactories = [CallLogging()]
    try await withChannel(to: "127.0.0.1:1", options: options) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      #expect(await status { _ = try await client.get(request("x")) }?.code == .unavailable)
    }
    #expect(handler.entries.map(\.message).filter { $0.hasPrefix("call ") } == ["call failed"])
  }

  @Test func aCallThatCannotBeMadeIsLogged() async throws {
    let handler = KeepingHandler()
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      var options = CallOptions()
      options.interceptorFactories = [CallLogging(logger: Logger(handler))]
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: options)
      #expect(await status { _ = try await client.get(request("x")) }?.code == .unavailable)
      #expect(handler.entries.map(\.message) == ["call failed"])
    }
  }
}

private struct Entry: Equatable {
  let level: LogLevel
  let message: String
  let fields: [String: String]

  init(_ level: LogLevel, _ message: String, _ fields: [String: String]) {
    self.level = level
    self.message = message
    self.fields = fields
  }
}

private final class KeepingHandler: LogHandler {
  private let state = Locked<[Entry]>([])

  var entries: [Entry] { state.withLock { $0 } }

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    state.withLock { $0.append(Entry(level, message, metadata)) }
  }
}
