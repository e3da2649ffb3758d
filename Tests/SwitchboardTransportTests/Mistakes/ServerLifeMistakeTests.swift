import CallTestSupport
import Dispatch
import Foundation
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Servers that listen nowhere, that are released while they serve, or that end before their calls.
@Suite(.timeLimit(.minutes(5))) struct ServerLifeMistakeTests {
  private func server(_ entries: LogEntries, web: WebOptions? = nil) throws -> (Server, TestService) {
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    options.web = web
    let service = TestService()
    return (try Server(providers: [service], options: options), service)
  }

  @Test func aServerThatListensNowhereDoesNotRun() async throws {
    let entries = LogEntries()
    let (server, _) = try server(entries)
    let error = await #expect(throws: GRPCStatus.self) {
      try await server.run(until: []) { Issue.record("it waits for nothing") }
    }
    #expect(error?.code == .failedPrecondition)
    // Nobody sees the error of a task that nobody awaits.
    #expect(entries.all(from: .warning).map(\.message) == ["a server does not run"])
    #expect(error?.message?.contains("call server.bind(host:port:) before server.run()") == true)
  }

  @Test func aServerWithANegativeGraceDoesNotRun() async throws {
    let (server, _) = try server(LogEntries())
    try server.bind(host: "127.0.0.1", port: 0)
    let error = await #expect(throws: GRPCStatus.self) {
      try await server.run(until: [], grace: .seconds(-1)) { Issue.record("it runs") }
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == "grace is -1.0 seconds: it must be at least 0.0 seconds")
    await server.shutDown(grace: .seconds(-1))
  }

  @Test func aServerThatWasShutDownDoesNotRunAgain() async throws {
    let (server, _) = try server(LogEntries())
    try server.bind(host: "127.0.0.1", port: 0)
    await server.shutDown(grace: .zero)
    let error = await #expect(throws: GRPCStatus.self) {
      try await server.run(until: []) { Issue.record("it waits for nothing") }
    }
    #expect(error?.code == .failedPrecondition)
    #expect(error?.message?.hasPrefix("the server was shut down") == true)
  }

  @Test func aServerThatIsShutDownElsewhereHasRun() async throws {
    let (server, _) = try server(LogEntries())
    try server.bind(host: "127.0.0.1", port: 0)
    try await server.run(until: []) { Task { await server.shutDown(grace: .zero) } }
  }

  /// What a program does once its server runs must not keep that from serving.
  @Test(.mayBlock) func whatIsDoneOnceItRunsMayTakeItsTime() async throws {
    let (server, _) = try server(LogEntries())
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let (entered, released) = (OneShot<Void>(), DispatchSemaphore(value: 0))
    @Sendable func wait() { _ = released.wait(timeout: .now() + 60) }
    let running = Task {
      try await server.run(until: []) {
        entered.settle(.success(()))
        wait()
      }
    }
    try await entered.value()
    try await withChannel(to: "\(address)") { channel async throws in
      #expect(try await Caller(channel: channel).get() == [1, 2, 3])
    }
    await server.shutDown(grace: .zero)
    try await running.value
    released.signal()
  }

  /// It gets no signal of its own.
  @Test func aServerThatRunsAfterASignalSaysSo() async throws {
    let (early, late) = (LogEntries(), LogEntries())
    let (first, _) = try server(early)
    try first.bind(host: "127.0.0.1", port: 0)
    let group = try LoopGroup()
    await withCheckedContinuation { continuation in
      // One that has no effect unless it is watched for.
      StopRequest([SIGURG], on: group.loops[0]).wait({ kill(getpid(), SIGURG) }) { continuation.resume() }
    }
    group.shutDown()
    let (second, _) = try server(late)
    try second.bind(host: "127.0.0.1", port: 0)
    for server in [first, second] {
      try await server.run(until: []) { Task { await server.shutDown(grace: .zero) } }
    }
    #expect(early.all.count == 1)
    #expect(early.all.first?.message.hasPrefix("a signal has already ended another run()") == true)
    #expect(late.all.isEmpty)
  }

  @Test func aServerThatIsReleasedWhileItServesSaysSo() throws {
    let entries = LogEntries()
    var address = ""
    do { address = "\(try server(entries).0.bind(host: "127.0.0.1", port: 0))" }
    let entry = entries.all.first
    #expect(entries.all.count == 1)
    #expect(entry?.level == .warning)
    #expect(entry?.message.contains("a server that listens was released") == true)
    #expect(entry?.message.contains("keep it, or await its run()") == true)
    #expect(entry?.metadata["addresses"] == address)
  }

  private struct OneMethod: CallHandlerProvider {
    static let method = MethodDescriptor(service: "test.One", method: "Call", type: .unary)
    let handle: @Sendable () async throws -> Void
    var serviceName: String { "test.One" }
    var methodHandlers: [MethodHandler] {
      [
        Self.method.bytes.unaryHandler { request, _ in
          try await handle()
          return request
        }
      ]
    }
  }

  @Test func callsThatAChannelCutsOff() async throws {
    let (entries, started) = (LogEntries(), OneShot<Void>())
    let service = OneMethod {
      started.settle(.success(()))
      try await Task.sleep(for: .seconds(3600))
    }
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withPair([service], channel: options) { pair async throws in
      let call = Task { try await pair.channel.call(OneMethod.method).unary([1]) }
      try await started.value()
      await pair.channel.shutDown(grace: .milliseconds(1))
      await #expect(throws: GRPCStatus.self) { _ = try await call.value }
    }
    let entry = entries.all.first { $0.message.hasPrefix("calls were cut off") }
    #expect(entry?.level == .warning)
    #expect(entry?.metadata["calls"] == "1")
  }

  /// Such as one that a task of its own has ended with.
  @Test func aHandlerThatGivesUp() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withPair([OneMethod { throw CancellationError() }], options: options) { pair async throws in
      let failure = await #expect(throws: GRPCStatus.self) {
        _ = try await pair.channel.call(OneMethod.method).unary([1])
      }
      #expect(failure?.code == .cancelled)
      #expect(failure?.message == "the handler gave up, although the call was not cancelled")
    }
    #expect(entries.all.contains { $0.level == .error && $0.metadata["method"] == OneMethod.method.path })
  }

  @Test func aServerThatHasEndedIsReleasedInSilence() async throws {
    let entries = LogEntries()
    do {
      let (server, _) = try server(entries)
      try server.bind(host: "127.0.0.1", port: 0)
      await server.shutDown(grace: .zero)
    }
    do { _ = try server(entries) }
    #expect(entries.all.isEmpty)
  }

  /// Blocks its loop until the log says what that keeps from ending.
  private final class Blocked: LogHandler {
    let details = Locked<[String: String]?>(nil)
    private let said = DispatchSemaphore(value: 0)

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard message.hasPrefix("a shutdown goes on after its grace") else { return }
      details.withLock { $0 = metadata }
      said.signal()
    }

    func block() { _ = said.wait(timeout: .now() + 60) }
  }

  @Test func aShutdownThatALoopKeepsFromEndingSaysSo() async throws {
    let (blocked, started) = (Blocked(), OneShot<Void>())
    let service = OneMethod {
      started.settle(.success(()))
      blocked.block()
    }
    var options = ServerOptions()
    options.logger = Logger(blocked)
    try await withPair([service], options: options) { pair async throws in
      let call = Task { try await pair.channel.call(OneMethod.method).unary([1]) }
      try await started.value()
      await pair.server.shutDown(grace: .zero)
      _ = await call.result
    }
    #expect(blocked.details.withLock { $0?["connections"] } == "1")
  }

  // MARK: The end of the grace

  private static let graceIsOver = GRPCStatus(
    code: .unavailable,
    message: "the server is shutting down, and the call had not ended by the end of its grace"
  )

  @Test(arguments: [CallProtocol.grpc, .grpcWeb, .connect], [HTTPVersion.negotiated, .http1])
  func callsThatAreCutOffSaySo(_ wireProtocol: CallProtocol, _ version: HTTPVersion) async throws {
    guard wireProtocol != .grpc || version != .http1 else { return }
    let entries = LogEntries()
    let (server, service) = try server(entries, web: WebOptions())
    let address = try server.bind(host: "127.0.0.1", port: 0)
    var options = ChannelOptions()
    (options.wireProtocol, options.httpVersion) = (wireProtocol, version)
    try await withChannel(to: "\(address)", options: options) { channel async throws in
      let caller = Caller(channel: channel)
      let hanging = Task { await status { _ = try await caller.get(TestService.hang) } }
      await service.hanging.wait()
      // Its responses have begun, and some of them have not been read.
      let flooding = channel.call(TestService.flood).makeServerStreamingCall([])
      _ = try await flooding.initialMetadata
      await server.shutDown(grace: .zero)
      #expect(await hanging.value == Self.graceIsOver)
      let flooded = await status { for try await _ in flooding.responseStream {} }
      #expect(flooded?.code == .unavailable)
      let entry = try #require(entries.all.first)
      #expect(entries.all.count == 1)
      #expect(entry.message.hasPrefix("calls were cut off, because they had not ended by the end of"))
      #expect(entry.metadata["calls"] == "2")
      #expect(entry.metadata["methods"] == "/test.Test/Hang (1), /test.Test/Flood (1)")
    }
  }

  @Test func aStreamThatIsReadIsToldToo() async throws {
    let (server, _) = try server(LogEntries())
    try await withChannel(to: "\(try server.bind(host: "127.0.0.1", port: 0))") { channel async throws in
      let call = channel.call(TestService.update).makeBidirectionalStreamingCall()
      try await call.requestStream.send([1])
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next(isolation: nil) == [1])
      await server.shutDown(grace: .zero)
      #expect(await status { _ = try await responses.next(isolation: nil) } == Self.graceIsOver)
    }
  }

  @Test func aServerWithoutCallsEndsInSilence() async throws {
    let entries = LogEntries()
    let (server, _) = try server(entries)
    try await withChannel(to: "\(try server.bind(host: "127.0.0.1", port: 0))") { channel async throws in
      _ = try await Caller(channel: channel).get()
      await server.shutDown(grace: .zero)
    }
    #expect(entries.all.isEmpty)
  }

  @Test func onlyTheMethodsWithMostCallsAreNamed() {
    let entries = LogEntries()
    let calls = CutOffCalls()
    calls.add((1...20).flatMap { number in Array(repeating: "/s/\(number)", count: number) })
    calls.report(to: Logger(entries), grace: .seconds(30))
    #expect(entries.all.first?.metadata["calls"] == "210")
    let methods = entries.all.first?.metadata["methods"]
    #expect(methods?.hasPrefix("/s/20 (20), /s/19 (19), ") == true)
    #expect(methods?.hasSuffix("/s/13 (13), 12 other methods") == true)
    #expect(entries.all.first?.metadata["grace"] == "30 s")
    calls.report(to: Logger(entries), grace: .seconds(30))
    #expect(entries.all.count == 1)
  }
}
