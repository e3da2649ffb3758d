import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardTelemetry
import TestSupport
import Testing

@testable import SwitchboardConsole

/// What was forgotten is in the log.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsoleMistakeTests {
  private func console(
    _ entries: LogEntries,
    _ telemetry: Telemetry? = nil,
    time: any CallTime = ManualTime()
  )
    throws
    -> Console
  {
    var options = ConsoleOptions()
    options.access = .requests { _ in true }
    options.logger = Logger(entries)
    return try Console(telemetry, options, time: time, watches: false)
  }

  @Test func aConsoleThatIsNowhere() throws {
    let entries = LogEntries()
    do { _ = try console(entries) }
    #expect(
      entries.warnings == [
        "a console was made whose page is nowhere: call its serve(port:), or give its pages() to the options of a server"
      ]
    )
  }

  @Test func aConsoleToWhichNothingWasAdded() async throws {
    let (entries, time) = (LogEntries(), ManualTime())
    let console = try console(entries, time: time)
    let address = try console.serve(port: 0)
    for _ in 0..<3 {
      _ = try PageRequest("/connections", [:]).answer(at: address)
      time.advance(by: .seconds(1))
    }
    await console.shutDown()
    #expect(entries.warnings.count == 1)
    #expect(entries.warnings.first?.hasPrefix("the console shows no connections: add(_:name:)") == true)
    #expect(entries.infos == ["the console is at http://127.0.0.1:\(address.port)/"])
  }

  @Test func aConsoleWhoseTelemetryObservesNothing() async throws {
    let (entries, time) = (LogEntries(), ManualTime())
    var options = TelemetryOptions(serviceName: "shop")
    options.logger = Logger(entries)
    let telemetry = try Telemetry(options)
    let console = try console(entries, telemetry, time: time)
    let server = try Server(providers: [FailingEcho()])
    console.add(server)
    let address = try console.serve(port: 0)
    for _ in 0..<3 {
      _ = try PageRequest("/now", [:]).answer(at: address)
      time.advance(by: .seconds(1))
    }
    await console.shutDown()
    await telemetry.shutDown()
    #expect(entries.warnings.count == 1)
    #expect(
      entries.warnings.first?.contains("or a console, and no server or channel has its observer()") == true
    )
  }

  /// The page says so, too.
  @Test func aServerThatTheTelemetryDoesNotObserve() async throws {
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "shop"))
    let console = try console(LogEntries(), telemetry)
    try await withPair([FailingEcho()]) { pair async throws in
      console.add(pair.server)
      _ = try await Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "x" })
      let answer = try PageRequest("/now", [:]).answer(at: try console.serve(port: 0))
      #expect(answer.contains("ServerOptions.observer = telemetry.observer()"))
    }
    await console.shutDown()
    await telemetry.shutDown()
  }

  /// A server that has its pages keeps it.
  @Test func aConsoleThatNothingElseKeeps() async throws {
    let entries = LogEntries()
    weak var kept: Console?
    var address: SocketAddress?
    do {
      let console = try console(entries)
      kept = console
      address = try console.serve(port: 0)
    }
    let answer = try PageRequest("/now", [:]).answer(at: try #require(address))
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
    // That nothing was added.
    #expect(entries.warnings.count == 1)
    await kept?.shutDown()
  }

  @Test func aConsoleThatWasShutDownShowsNothingOld() async throws {
    let console = try console(LogEntries())
    var options = ServerOptions()
    options.pages = try console.pages()
    try await withServer([FailingEcho()], options: options) { _, address async throws in
      #expect(try PageRequest("/console/now", [:]).answer(at: address).hasPrefix("HTTP/1.1 200 "))
      await console.shutDown()
      #expect(try PageRequest("/console/now", [:]).answer(at: address).hasPrefix("HTTP/1.1 503 "))
      #expect(throws: GRPCStatus.self) { try console.pages() }
    }
  }

  @Test func aConsoleForOthersInPlaintext() async throws {
    let entries = LogEntries()
    let console = try console(entries)
    try console.serve(host: "0.0.0.0", port: 0)
    await console.shutDown()
    #expect(entries.warnings.first?.hasPrefix("the console is served without TLS to other machines") == true)
  }

  /// The same on the port of a server of the program's own.
  @Test func pagesForOthersInPlaintext() async throws {
    let entries = LogEntries()
    let console = try console(entries)
    var options = ServerOptions()
    options.pages = try console.pages()
    let server = try Server(providers: [], options: options)
    try server.bind(host: "127.0.0.1", port: 0)
    #expect(entries.warnings.isEmpty)
    for _ in 0..<2 { try server.bind(host: "0.0.0.0", port: 0) }
    await server.shutDown(grace: .zero)
    await console.shutDown()
    #expect(entries.warnings.count == 1)
    #expect(entries.warnings.first?.hasPrefix("the console is served without TLS to other machines") == true)
  }

  @Test func aPortThatIsTaken() async throws {
    let console = try console(LogEntries())
    let address = try console.serve(port: 0)
    let failure = #expect(throws: GRPCStatus.self) { try console.serve(port: address.port) }
    #expect(failure?.message?.contains("address already in use") == true)
    await console.shutDown()
  }

  @Test func aConsoleThatIsUsedAsItShouldBe() async throws {
    let entries = LogEntries()
    var options = TelemetryOptions(serviceName: "shop")
    options.logger = Logger(entries)
    let telemetry = try Telemetry(options)
    var serverOptions = ServerOptions()
    serverOptions.observer = telemetry.observer()
    try await withServer([FailingEcho()], options: serverOptions) { server, _ async throws in
      let console = try console(entries, telemetry)
      console.add(server)
      let address = try console.serve(port: 0)
      for path in ["/now", "/now?count=1", "/connections"] {
        _ = try PageRequest(path, [:]).answer(at: address)
      }
      await console.shutDown()
    }
    await telemetry.shutDown()
    #expect(entries.warnings.isEmpty)
  }
}

extension LogEntries {
  /// The texts of warnings, and of what is said without being one.
  fileprivate var warnings: [String] { all.filter { $0.level == .warning }.map(\.message) }
  fileprivate var infos: [String] { all.filter { $0.level == .info }.map(\.message) }
}
