import CallTestSupport
import EchoService
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

@testable import SwitchboardTelemetry

/// Collectors that are down, silent, slow, refuse, or answer nonsense, in time that stands still unless the test moves it:
/// what waited for a collector would wait forever.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct BadCollectorTests {
  private final class Warnings: LogHandler {
    let all = Locked<[String]>([])
    let reasons = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard level >= .warning else { return }
      all.withLock { $0.append(message) }
      if let reason = metadata["reason"] { reasons.withLock { $0.append(reason) } }
    }
  }

  private let time = ManualTime()
  private let warnings = Warnings()

  /// Telemetry that exports four spans at once.
  private func telemetry(
    port: Int,
    _ transport: OTLPOptions.Transport,
    scheme: String = "http",
    tracesCalls: Bool = false
  ) throws -> Telemetry {
    let otlp = OTLPOptions(endpoint: "\(scheme)://127.0.0.1:\(port)", transport: transport)
    var options = TelemetryOptions(serviceName: "test")
    options.batch.batchSize = 4
    options.batch.queueSize = 64
    options.logger = Logger(warnings)
    options.exporters = [.otlp(otlp, [.traces])]
    options.tracesCalls = tracesCalls
    return try Telemetry(options, clock: TelemetryClock(), ids: IDGenerator(), time: time)
  }

  private func record(_ telemetry: Telemetry, _ count: Int = 4) {
    for _ in 0..<count { telemetry.tracer.startSpan("span").end() }
  }

  /// How long the telemetry waits before it tries again.
  private func pause() async throws -> Duration {
    while true {
      let wait = try #require(await time.nextWait())
      // Otherwise it waits for more spans.
      if wait != .seconds(5) { return wait }
    }
  }

  // MARK: Collectors that answer

  /// A failure that may pass, and how long the telemetry waits then.
  struct Passing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var status: GRPCStatus?
    var answer = ""
    let pause: ClosedRange<Duration>
  }

  private static let usual = Duration.milliseconds(800)...Duration.milliseconds(1200)
  private static let seven = Duration.seconds(7)...Duration.seconds(7)

  /// A status with `google.rpc.RetryInfo` of this many seconds.
  private static func status(_ code: GRPCStatus.Code, retryAfter seconds: UInt8) -> GRPCStatus {
    var status = GRPCStatus(code: code, message: "busy")
    let info: [UInt8] = [0x0a, 0x02, 0x08, seconds]
    let url = Array("type.googleapis.com/google.rpc.RetryInfo".utf8)
    let any = [0x0a, UInt8(url.count)] + url + [0x12, UInt8(info.count)] + info
    status.packedDetails = [0x1a, UInt8(any.count)] + any
    return status
  }

  private static func answer(_ status: Int, _ field: String? = nil, body: String = "") -> String {
    let more = field.map { "\($0)\r\n" } ?? ""
    return "HTTP/1.1 \(status) x\r\n\(more)content-length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  static let passing = [
    Passing(testDescription: "UNAVAILABLE", status: GRPCStatus(code: .unavailable), pause: usual),
    Passing(testDescription: "UNAVAILABLE, 7 s", status: status(.unavailable, retryAfter: 7), pause: seven),
    Passing(
      testDescription: "RESOURCE_EXHAUSTED, 7 s",
      status: status(.resourceExhausted, retryAfter: 7),
      pause: seven
    ),
    Passing(
      testDescription: "RESOURCE_EXHAUSTED, 0 s",
      status: status(.resourceExhausted, retryAfter: 0),
      pause: usual
    ),
    Passing(testDescription: "503", answer: answer(503), pause: usual),
    Passing(testDescription: "503, 7 s", answer: answer(503, "retry-after: 7"), pause: seven),
    Passing(testDescription: "429, 7 s", answer: answer(429, "retry-after: 7"), pause: seven),
    Passing(testDescription: "429, 0 s", answer: answer(429, "retry-after: 0"), pause: usual),
    Passing(
      testDescription: "503, a date in the past",
      answer: answer(503, "retry-after: Sun, 06 Nov 1994 08:49:37 GMT"),
      pause: usual
    ),
    Passing(
      testDescription: "503, no day of any month",
      answer: answer(503, "retry-after: Mon, 99 Foo 9999 99:99:99 GMT"),
      pause: usual
    ),
    Passing(testDescription: "429, -1", answer: answer(429, "retry-after: -1"), pause: usual),
    Passing(
      testDescription: "429, nonsense",
      answer: answer(429, "retry-after: 99999999999999999999"),
      pause: usual
    ),
  ]

  @Test(arguments: passing) func transientFailuresAreRetried(_ passing: Passing) async throws {
    var collector = ""
    if let status = passing.status {
      let provider = ScriptedGRPCCollector([status])
      try await withServer([provider]) { _, address async throws in
        let port = address.port
        collector = "http://127.0.0.1:\(port)"
        let telemetry = try telemetry(port: port, .grpc)
        record(telemetry)
        let pause = try await pause()
        #expect(passing.pause.contains(pause))
        time.advance(by: pause)
        while !Task.isCancelled, provider.spanCount.withLock({ $0 < 4 }) { await Task.yield() }
        try await isTaken(telemetry)
      }
    } else {
      let socket = try ScriptedSocket()
      collector = "http://127.0.0.1:\(socket.port)"
      let telemetry = try telemetry(port: socket.port, .http)
      record(telemetry)
      await socket.answer(passing.answer)
      let pause = try await pause()
      #expect(passing.pause.contains(pause))
      time.advance(by: pause)
      await socket.answer(Self.answer(200))
      try await isTaken(telemetry)
    }
    #expect(
      warnings.all.withLock { $0 } == [
        "traces are delayed: cannot export to \(collector)", "traces are exported to \(collector) again",
      ]
    )
  }

  private func isTaken(_ telemetry: Telemetry) async throws {
    // The queue waits for more once the batch is settled.
    while try #require(await time.nextWait()) != .seconds(5) {}
    #expect(telemetry.drops[.traces] == TelemetryDrops())
    await telemetry.shutDown(within: .zero)
  }

  /// A failure that does not pass.
  static let final = [
    Passing(testDescription: "PERMISSION_DENIED", status: GRPCStatus(code: .permissionDenied), pause: usual),
    Passing(testDescription: "400", answer: answer(400), pause: usual),
    Passing(testDescription: "no HTTP", answer: "\u{0}\u{1} nonsense\r\n\r\n", pause: usual),
    Passing(testDescription: "HTTP/9.9", answer: "HTTP/9.9 200 OK\r\n\r\n", pause: usual),
  ]

  @Test(arguments: final) func permanentFailuresDropTheBatch(_ failure: Passing) async throws {
    var port = 0
    var server: Server?
    var socket: ScriptedSocket?
    if let status = failure.status {
      let made = try Server(providers: [ScriptedGRPCCollector([status, status])])
      port = try made.bind(host: "127.0.0.1", port: 0).port
      server = made
    } else {
      let made = try ScriptedSocket()
      port = made.port
      socket = made
    }
    let telemetry = try telemetry(port: port, server == nil ? .http : .grpc)
    for round in 1...2 {
      record(telemetry)
      await socket?.answer(failure.answer)
      while !Task.isCancelled, telemetry.drops[.traces]?.notExported != 4 * round { await Task.yield() }
    }
    #expect(warnings.all.withLock { $0 } == ["traces are lost: cannot export to http://127.0.0.1:\(port)"])
    await telemetry.shutDown(within: .zero)
    await server?.shutDown(grace: .zero)
  }

  /// A pause that the export of a batch has no time for, and its length.
  static let long = [
    Passing(testDescription: "60 s", status: status(.unavailable, retryAfter: 60), pause: minute),
    Passing(testDescription: "503, 60 s", answer: answer(503, "retry-after: 60"), pause: minute),
    Passing(
      testDescription: "503, 300 years",
      answer: answer(503, "retry-after: 9999999999"),
      pause: longest
    ),
    Passing(
      testDescription: "503, a date in the year 9999",
      answer: answer(503, "retry-after: Fri, 31 Dec 9999 23:59:59 GMT"),
      pause: longest
    ),
  ]

  private static let minute = Duration.seconds(60)...Duration.seconds(60)
  private static let longest = Duration.seconds(300)...Duration.seconds(300)

  @Test(arguments: long) func aLongPauseLosesTheBatchAndIsKept(_ long: Passing) async throws {
    let provider = ScriptedGRPCCollector(long.status.map { [$0] } ?? [])
    try await withServer([provider]) { _, address async throws in
      let socket = try ScriptedSocket()
      let grpcPort = address.port
      let isHTTP = long.status == nil
      let telemetry = try telemetry(port: isHTTP ? socket.port : grpcPort, isHTTP ? .http : .grpc)
      record(telemetry)
      if isHTTP { await socket.answer(long.answer) }
      while !Task.isCancelled, telemetry.drops[.traces]?.notExported != 4 { await Task.yield() }
      // The lost batch has its place in the queue until a moment later. The wait is of a length that `pause` skips.
      await telemetry.flush(within: .seconds(5))
      // The queue holds 64, of which the first batch waits for the collector.
      record(telemetry, 70)
      let pause = try await pause()
      #expect(long.pause.contains(pause))
      #expect(telemetry.drops[.traces]?.queueFull == 6)
      time.advance(by: pause - .milliseconds(1))
      #expect(provider.spanCount.withLock { $0 } == 0)
      time.advance(by: .milliseconds(1))
      if isHTTP { for _ in 0..<16 { await socket.answer(Self.answer(200)) } }
      while !Task.isCancelled, !isHTTP, provider.spanCount.withLock({ $0 < 64 }) { await Task.yield() }
      while try #require(await time.nextWait()) != .seconds(5) {}
      #expect(telemetry.drops[.traces] == TelemetryDrops(queueFull: 6, notExported: 4))
      await telemetry.shutDown(within: .zero)
    }
  }

  /// What a collector answers that is not what it should be, and the reason that is logged.
  private static let otherAnswers: [(OTLPOptions.Transport, answer: String, reason: String)] = [
    (.grpc, answer(400), "it does not speak HTTP/2: is this the port for OTLP over HTTP?"),
    (.grpc, "<!DOCTYPE HTML>\r\n", "it does not speak HTTP/2: is this the port for OTLP over HTTP?"),
    // HTTP/2's settings.
    (
      .http, "\0\0\0\u{4}\0\0\0\0\0", "the answer is not HTTP/1.1: is this the port for OTLP over gRPC?"
    ),
    (.http, answer(404), "HTTP status 404 from http://127.0.0.1:PORT/v1/traces"),
  ]

  @Test(arguments: otherAnswers)
  func aPortOfAnotherKindIsRecognized(
    _ transport: OTLPOptions.Transport,
    _ answer: String,
    _ reason: String
  ) async throws {
    let socket = try ScriptedSocket()
    let telemetry = try telemetry(port: socket.port, transport)
    record(telemetry)
    let peer = await socket.accept()
    await MayBlock.task {
      _ = peer.readRequest()
      peer.send(Array(answer.utf8))
      // To end first, with frames unread, would reset the connection.
      #expect(peer.readToEnd())
    }.value
    while !Task.isCancelled, telemetry.drops[.traces]?.notExported != 4 { await Task.yield() }
    // They are counted before they are reported.
    while !Task.isCancelled, warnings.reasons.withLock({ $0.isEmpty }) { await Task.yield() }
    #expect(
      warnings.reasons.withLock { $0 } == [
        reason.split(separator: "PORT").joined(separator: "\(socket.port)")
      ]
    )
    await telemetry.shutDown(within: .zero)
  }

  /// What a server over HTTP answers if one side speaks TLS and the other does not: nothing, HTTP, or an alert.
  private static let plaintextAnswers: [(scheme: String, answer: [UInt8], reason: String)] = [
    ("http", [], "the connection ended without an answer: it may require TLS"),
    ("http", [0x15, 3, 1, 0, 2, 2, 40], "TLS: the server speaks TLS, and the channel does not"),
    ("https", Array(answer(400).utf8), "TLS: the server does not speak TLS, which the channel requires"),
  ]

  @Test(arguments: plaintextAnswers)
  func aMissingTLSIsExplained(_ scheme: String, _ answer: [UInt8], _ reason: String) async throws {
    let socket = try ScriptedSocket()
    let telemetry = try telemetry(port: socket.port, .http, scheme: scheme)
    record(telemetry)
    await socket.answer(answer)
    #expect(Self.usual.contains(try await pause()))
    #expect(warnings.reasons.withLock { $0 } == ["unavailable (14): \(reason)"])
    await telemetry.shutDown(within: .zero)
  }

  @Test(arguments: ["nonsense", "\u{ff}\u{ff}\u{ff}\u{ff}", "{"])
  func anAcceptedBatchIsNotResentWhateverTheBody(_ body: String) async throws {
    let socket = try ScriptedSocket()
    let telemetry = try telemetry(port: socket.port, .http)
    record(telemetry)
    await socket.answer(Self.answer(200, body: body))
    // The next batch comes once this one is settled.
    record(telemetry)
    let next = await socket.accept()
    #expect(telemetry.drops[.traces] == TelemetryDrops())
    #expect(warnings.all.withLock { $0 } == [])
    // Until here it must stay open: closed, it would be a reason to warn.
    withExtendedLifetime(next) {}
    await telemetry.shutDown(within: .zero)
  }

  // MARK: Collectors that do not answer

  enum Silence: CaseIterable {
    /// Nobody listens.
    case down
    /// Accepts connections, and says nothing.
    case silent
    /// Says one byte each second.
    case slow
  }

  /// What a slow collector says.
  private static func opening(_ transport: OTLPOptions.Transport) -> [UInt8] {
    transport == .grpc
      ? (0..<100).flatMap { _ in FramePeer.frame(FramePeer.Kind.settings, 0, 0, []) }
      : Array("HTTP/1.1 200 OK\r\nx-very-long: \(String(repeating: "x", count: 1000))".utf8)
  }

  @Test(arguments: Silence.allCases, [OTLPOptions.Transport.grpc, .http, .httpJSON])
  func callsNeitherWaitNorFillMemory(_ silence: Silence, _ transport: OTLPOptions.Transport) async throws {
    let socket = try ScriptedSocket()
    // Port 1 is nobody's.
    let telemetry = try telemetry(port: silence == .down ? 1 : socket.port, transport, tracesCalls: true)
    let loop = try #require(telemetry.exportLoop as? Loop)
    record(telemetry)
    // From now on the four spans are being exported, and keep their place.
    let peer = silence == .down ? nil : await socket.accept()
    if peer == nil { #expect(Self.usual.contains(try await pause())) }
    let observer = telemetry.observer()
    // Three spans each.
    try await withEcho(TracedEcho(), server: observer, client: observer) { client, _ in
      for _ in 0..<200 { _ = try await client.get(.with { $0.text = "x" }) }
    }
    #expect(telemetry.drops[.traces]?.queueFull == 600 - 60)
    if let peer {
      // The request takes at most ten seconds.
      let opening = Self.opening(transport)
      for second in 0..<10 {
        if silence == .slow {
          await MayBlock.task { _ = peer.send([opening[second]]) }.value
        }
        await loop.advance(by: .seconds(1))
      }
      #expect(Self.usual.contains(try await pause()))
    }
    let collector = "http://127.0.0.1:\(peer == nil ? 1 : socket.port)"
    // In the order in which it happened.
    let delay = "traces are delayed: cannot export to \(collector)"
    let overflow = "traces are lost: \(collector) does not accept them fast enough"
    #expect(warnings.all.withLock { $0 } == (peer == nil ? [delay, overflow] : [overflow, delay]))
    if peer != nil {
      #expect(warnings.reasons.withLock { $0 }.last == "it did not answer within 10 s")
    }
    // What is tried again keeps its place, too.
    record(telemetry, 100)
    #expect(telemetry.drops[.traces]?.queueFull == 700 - 60)
    await telemetry.shutDown(within: .zero)
    let drops = try #require(telemetry.drops[.traces])
    #expect((drops.queueFull, drops.notExported, drops.shutDown) == (640, 4, 60))
  }
}
