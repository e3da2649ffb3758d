import CallTestSupport
import ConsoleMessages
import Dispatch
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
@testable import SwitchboardNetwork

/// What can be changed while the process runs: log levels, the sampling of traces, and profiles.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LeverTests {
  /// Blocks its loop with `block`, until it is let go.
  private struct Echo: EchoingProvider {
    let entered = DispatchSemaphore(value: 0)
    let released = DispatchSemaphore(value: 0)

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.logger.log(.debug, "an entry of the handler")
      if request.text == "block" {
        entered.signal()
        block()
      }
      return .with { $0.text = request.text }
    }

    private func block() { _ = released.wait(timeout: .now() + 60) }
  }

  private static let fields = [
    "authorization": "Bearer a-token-of-the-test", "content-type": "application/json",
  ]
  private let log = LogEntries()
  private let time = ManualTime()

  /// How to ask the console.
  private struct Asking {
    let address: SocketAddress

    func get<Answer: Message>(_ path: String, as: Answer.Type = Answer.self) throws -> Answer {
      let answer = try PageRequest(path, fields).answer(at: address)
      return try Answer(
        jsonString: answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
      )
    }

    /// Returns the status, and what the answer says.
    func post(_ path: String, _ body: String) throws -> (status: String, text: String) {
      let answer = try PageRequest(path, fields, body: body).answer(at: address)
      let text = answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
      return (String(answer.dropFirst("HTTP/1.1 ".utf8.count).prefix(3)), text)
    }
  }

  private func withConsole(
    _ telemetry: Telemetry? = nil,
    _ permissions: Set<ConsolePermission> = Set(ConsolePermission.allCases),
    _ body: (Console, Asking) async throws -> Void
  ) async throws {
    var options = ConsoleOptions()
    options.access = .token("a-token-of-the-test")
    options.permissions = .everyone(permissions)
    options.logger = Logger(log, minimumLevel: .info)
    let console = try Console(telemetry, options, time: time, watches: false)
    let address = try console.serve(port: 0)
    try await withEnd({ await console.shutDown() }, { try await body(console, Asking(address: address)) })
  }

  // MARK: Log levels

  @Test func theLogLevelOfOneServerIsChanged() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withServer([Echo()], options: options) { other, _ async throws in
      try await withPair([Echo()], options: options) { pair async throws in
        try await withConsole { console, asking async throws in
          console.add(pair.server, name: "front")
          console.add(other, name: "back")
          let client = Echo_EchoClient(channel: pair.channel)
          _ = try await client.get(.with { $0.text = "before" })
          #expect(try asking.post("/log-level", #"{"ids": ["server-1"], "level": "debug"}"#).status == "200")
          _ = try await client.get(.with { $0.text = "after" })
          #expect(entries.all.filter { $0.message == "an entry of the handler" }.count == 1)
          let view: Switchboard_Console_V1_LeversView = try asking.get("/levers")
          #expect(view.logs.map(\.level) == ["debug", "warning"])
          #expect(view.logs.map(\.standard) == ["warning", "warning"])
          // The logger that both were made with keeps its level.
          #expect(options.logger.minimumLevel == .warning && other.logger.minimumLevel == .warning)
          let all = try asking.post("/log-level", #"{"level": "error"}"#)
          #expect(try Switchboard_Console_V1_LogLevelAnswer(jsonString: all.text).changed == 2)
          #expect(other.logger.minimumLevel == .error)
        }
      }
    }
    let said = log.all.map(\.message)
    #expect(said.contains("the console does what a viewer asked for: log server-1 from the level debug on"))
    #expect(log.all.contains { $0.metadata["viewer"]?.contains("127.0.0.1") == true })
  }

  @Test func theLogLevelOfOneMethodIsChanged() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withPair([Echo()], options: options) { pair async throws in
      try await withConsole { console, asking async throws in
        console.add(pair.server, name: "front")
        let client = Echo_EchoClient(channel: pair.channel)
        func count() -> Int { entries.all.filter { $0.message == "an entry of the handler" }.count }
        _ = try await client.get(.with { $0.text = "before" })
        #expect(count() == 0)
        let body = #"{"method": "echo.Echo/Get", "level": "debug"}"#
        #expect(try asking.post("/log-level", body).status == "200")
        _ = try await client.get(.with { $0.text = "with" })
        #expect(count() == 1)
        var view: Switchboard_Console_V1_LeversView = try asking.get("/levers")
        #expect(
          view.methodLogs.map(\.method) == ["echo.Echo/Get"] && view.methodLogs.map(\.level) == ["debug"]
        )
        #expect(view.methodLogs.map(\.name) == ["front"] && view.logs.map(\.level) == ["warning"])
        // Others log as before, and the method's level may be higher, too.
        pair.server.logger.log(.info, "of no method")
        #expect(!entries.all.contains { $0.message == "of no method" })
        #expect(try asking.post("/log-level", #"{"level": "debug"}"#).status == "200")
        let higher = #"{"ids": ["server-1"], "method": "echo.Echo/Get", "level": "error"}"#
        #expect(try asking.post("/log-level", higher).status == "200")
        _ = try await client.get(.with { $0.text = "without" })
        #expect(count() == 1)
        let back = #"{"ids": ["server-1"], "method": "echo.Echo/Get"}"#
        #expect(try asking.post("/log-level", back).status == "200")
        _ = try await client.get(.with { $0.text = "as the rest" })
        #expect(count() == 2)
        view = try asking.get("/levers")
        #expect(view.methodLogs.isEmpty)
      }
    }
    let said = log.all.map(\.message)
    #expect(
      said.contains { $0.hasSuffix("log calls of echo.Echo/Get on all servers from the level debug on") }
    )
    #expect(said.contains { $0.hasSuffix("log calls of echo.Echo/Get on server-1 as the rest") })
  }

  @Test(arguments: [
    ("404", #"{"method": "echo.Echo/Gett", "level": "info"}"#, "did you mean echo.Echo/Get?"),
    ("404", #"{"method": "other.Service/Get", "level": "info"}"#, "no server"),
    ("404", #"{"method": "echo.Echo/Get", "level": "info", "ids": ["server-7"]}"#, "a server that has"),
    ("400", #"{"method": "echo.Echo", "level": "info"}"#, "package.Service/Method"),
    ("400", #"{"method": "echo.Echo/Get", "level": "loud"}"#, "trace, debug, info"),
  ])
  func levelsOfMethodsThatCannotBeMeant(_ expected: String, _ body: String, _ reason: String) async throws {
    try await withServer([Echo()]) { server, _ async throws in
      try await withConsole { console, asking async throws in
        console.add(server)
        let answer = try asking.post("/log-level", body)
        #expect(answer.status == expected && answer.text.contains(reason), "\(answer)")
        #expect(server.logger.methodLevels.isEmpty)
      }
    }
  }

  @Test func onlySoManyMethodsHaveLevelsOfTheirOwn() {
    let logger = Logger(LogEntries(), minimumLevel: .warning)
    for number in 0..<Logger.mostMethodLevels {
      #expect(logger.setLevel(.debug, ofMethod: "/a.Service/Method\(number)"))
    }
    #expect(!logger.setLevel(.debug, ofMethod: "/a.Service/One"))
    #expect(logger.setLevel(.error, ofMethod: "/a.Service/Method1"))
    #expect(logger.setLevel(nil, ofMethod: "/a.Service/Method2"))
    #expect(logger.setLevel(.debug, ofMethod: "/a.Service/One"))
    #expect(logger.ofMethod("/a.Service/One").logs(.debug) && !logger.ofMethod("/a.Service/Two").logs(.info))
  }

  @Test(arguments: [
    ("400", #"{"level": "loud"}"#), ("400", "{}"), ("404", #"{"ids": ["server-7"], "level": "info"}"#),
    ("400", #"{"ids": ["server"], "level": "info"}"#), ("404", #"{"ids": ["listener-1"], "level": "info"}"#),
  ])
  func levelsThatCannotBeMeant(_ expected: String, _ body: String) async throws {
    try await withServer([Echo()]) { server, _ async throws in
      try await withConsole { console, asking async throws in
        console.add(server)
        #expect(try asking.post("/log-level", body).status == expected)
        #expect(server.logger.minimumLevel == .warning)
      }
    }
  }

  @Test func aQuietLogSaysSo() async throws {
    var options = ServerOptions()
    options.logger = .quiet
    try await withServer([Echo()], options: options) { server, _ async throws in
      try await withConsole { console, asking async throws in
        console.add(server)
        let view: Switchboard_Console_V1_LeversView = try asking.get("/levers")
        #expect(view.logs.first?.quiet.contains("Logger.quiet") == true)
      }
    }
  }

  @Test func eachLeverNeedsItsPermission() async throws {
    try await withConsole(nil, [.drain]) { _, asking async throws in
      for (path, permission) in [
        ("/log-level", "logLevel"), ("/sampling", "sampling"), ("/profile", "profile"),
      ] {
        let answer = try asking.post(path, "{}")
        #expect(answer.status == "403" && answer.text.contains(".\(permission)"))
      }
    }
  }

  // MARK: Sampling

  @Test func theSamplingOfAMethodIsChangedForAWhile() async throws {
    let spans = Locked<[String]>([])
    var options = TelemetryOptions(serviceName: "shop")
    options.sampler = .parentBased(.never)
    options.exporters = [.spans { ended in spans.withLock { $0 += ended.map(\.name) } }]
    let telemetry = try Telemetry(options)
    var serverOptions = ServerOptions()
    serverOptions.observer = telemetry.observer()
    try await withPair([Echo()], options: serverOptions) { pair async throws in
      try await withConsole(telemetry) { console, asking async throws in
        console.add(pair.server)
        let client = Echo_EchoClient(channel: pair.channel)
        _ = try await client.get(.with { $0.text = "before" })
        let body = #"{"method": "echo.Echo/Get", "share": 1, "minutes": 10}"#
        let refused = try asking.post("/sampling", #"{"method": "echo.Echo/Gt", "share": 1, "minutes": 10}"#)
        #expect(refused.status == "404" && refused.text.contains("did you mean echo.Echo/Get?"))
        // A channel may call it.
        let other = #"{"method": "other.Echo/Gt", "share": 0, "minutes": 10}"#
        #expect(try asking.post("/sampling", other).status == "200")
        #expect(try asking.post("/sampling", #"{"method": "other.Echo/Gt"}"#).status == "200")
        #expect(try asking.post("/sampling", body).status == "200")
        _ = try await client.get(.with { $0.text = "after" })
        let view: Switchboard_Console_V1_LeversView = try asking.get("/levers?selected=Echo%2FG")
        #expect(view.sampling.map(\.method) == ["echo.Echo/Get"] && view.methods == ["echo.Echo/Get"])
        #expect(view.sampling.allSatisfy { $0.secondsLeft > 0 && $0.secondsLeft <= 600 })
        #expect(
          view.sampler == "as the caller decides; no traces that begin here" && view.samplingMissing.isEmpty
        )
        #expect(try asking.post("/sampling", #"{"method": "echo.Echo/Get"}"#).status == "200")
        time.advance(by: .seconds(1))
        #expect(try asking.get("/levers", as: Switchboard_Console_V1_LeversView.self).sampling.isEmpty)
      }
    }
    await telemetry.flush()
    #expect(spans.withLock { $0 } == ["Recv.echo.Echo.Get"])
    await telemetry.shutDown()
  }

  @Test(arguments: [
    #"{"method": "echo.Echo", "share": 1, "minutes": 1}"#, #"{"method": "/a/b", "share": 1, "minutes": 1}"#,
    #"{"method": "a/b", "share": 1.5, "minutes": 1}"#, #"{"method": "a/b", "share": "NaN", "minutes": 1}"#,
    #"{"method": "a/b", "share": 1}"#, #"{"method": "a/b", "share": 1, "minutes": 1441}"#,
    #"{"method": "a/b", "share": 1, "minutes": "NaN"}"#,
  ])
  func samplingThatCannotBeMeant(_ body: String) async throws {
    var options = TelemetryOptions(serviceName: "shop")
    options.exporters = [.spans { _ in }]
    let telemetry = try Telemetry(options)
    try await withConsole(telemetry) { _, asking async throws in
      #expect(try asking.post("/sampling", body).status == "400")
      #expect(telemetry.pulledSampling.isEmpty)
    }
    await telemetry.shutDown()
  }

  @Test func samplingSaysWhatIsMissing() async throws {
    let body = #"{"method": "a/b", "share": 1, "minutes": 1}"#
    try await withConsole { _, asking async throws in
      let answer = try asking.post("/sampling", body)
      #expect(answer.status == "409" && answer.text.contains("Console(telemetry:)"))
    }
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "shop"))
    try await withConsole(telemetry) { _, asking async throws in
      #expect(try asking.post("/sampling", body).text.contains("TelemetryOptions.exporters"))
    }
    await telemetry.shutDown()
  }

  // MARK: Profiles

  @Test func aProfileNamesTheHandlerThatBlocksItsLoop() async throws {
    let echo = Echo()
    var options = ServerOptions()
    options.blockedLoopLimit = nil
    try await withPair([echo], options: options) { pair async throws in
      try await withConsole { console, asking async throws in
        console.add(pair.server, name: "front")
        let call = Task { try await Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "block" }) }
        echo.entered.wait()
        #expect(try asking.post("/profile", #"{"seconds": 1}"#).status == "200")
        #expect(try asking.post("/profile", "{}").status == "409")
        for _ in 0..<200 {
          #expect(await time.nextWait() == .milliseconds(5))
          time.advance(by: .milliseconds(5))
        }
        var profile = Switchboard_Console_V1_Profile()
        repeat {
          profile = try asking.get("/profile")
          time.advance(by: .seconds(1))
        } while profile.isRunning && !Task.isCancelled
        echo.released.signal()
        _ = try await call.value
        #expect(profile.looks == 200 && profile.seconds == 1 && !profile.isCut)
        #expect(profile.frames.map(\.depth) == [0, 1, 2])
        #expect(profile.frames.allSatisfy { $0.count == 200 })
        #expect(profile.frames.first?.name == "loop 1: front")
        #expect(profile.frames.last?.name == "echo.Echo/Get: handler and interceptors")
        let view: Switchboard_Console_V1_LeversView = try asking.get("/levers")
        #expect(view.profile.looks == 200 && view.profile.frames.isEmpty)
      }
    }
  }

  @Test func aProfileNeedsLoops() async throws {
    try await withConsole { _, asking async throws in
      #expect(try asking.post("/profile", "{}").status == "409")
      #expect(try asking.post("/profile", #"{"seconds": 61}"#).status == "400")
      #expect(try asking.post("/profile", #"{"seconds": "NaN"}"#).status == "400")
    }
  }

  @Test func manyWhoAskAtOnceGetOneProfile() async throws {
    try await withPair([Echo()]) { pair async throws in
      try await withConsole { console, asking async throws in
        console.add(pair.server)
        let statuses = try await withThrowingTaskGroup { group in
          for _ in 0..<40 { group.addTask { try asking.post("/profile", #"{"seconds": 60}"#).status } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count(where: { $0 == "200" }) == 1)
        #expect(statuses.count(where: { $0 == "409" }) == 39)
        #expect(time.sleeperCount == 1)
      }
    }
  }

  @Test func aProfileIsATree() {
    var profile = LoopProfile()
    let idle = LoopActivity.Sight(step: 2, method: 9)
    for number in 0..<10 {
      let first = LoopActivity.Sight(step: 1, method: number < 4 ? 7 : 8, phase: .events)
      profile.add([number < 6 ? first : idle, .init(step: 1, method: 0, phase: .flushes)])
    }
    let frames = profile.frames(loops: ["one", "two"]) { "method \($0)" }
    #expect(
      frames.map { "\($0.depth) \($0.name) \($0.count)" } == [
        "0 one 10", "1 reads from sockets 6", "2 method 7 4", "2 method 8 2", "1 idle 4", "0 two 10",
        "1 writes to sockets 10",
      ]
    )
  }

  @Test func theSizeOfAProfileIsBounded() {
    var profile = LoopProfile()
    for number in 1...(2 * LoopProfile.most) {
      profile.add([.init(step: 1, method: UInt(number), phase: .jobs)])
    }
    let frames = profile.frames(loops: ["one"]) { "method \($0)" }
    #expect(frames.count <= LoopProfile.most + 2 && profile.isCut)
    #expect(frames.first?.count == UInt32(2 * LoopProfile.most))
  }
}
