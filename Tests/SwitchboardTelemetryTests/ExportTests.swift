import CallTestSupport
import OTLPMessages
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// Queues, retries and what is lost, without a collector.
@Suite(.timeLimit(.minutes(5))) struct ExportTests {
  private func record(_ telemetry: Telemetry, _ count: Int) {
    for number in 0..<count { telemetry.tracer.startSpan("span \(number)").end() }
  }

  @Test func flushingExportsMoreThanOneBatch() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter) { $0.batch.batchSize = 10 }
    record(telemetry, 25)
    await telemetry.flush()
    #expect(exporter.spans.count == 25)
    await telemetry.shutDown()
  }

  @Test func theQueueIsBoundedInNumberAndInBytes() async throws {
    let exporter = CapturingExporter(isHeld: true)
    let few = try Telemetry.capturing(exporter) {
      $0.batch.queueSize = 8
      $0.batch.batchSize = 4
    }
    record(few, 4)
    while !Task.isCancelled, exporter.attempts == 0 { await Task.yield() }
    // The batch that is being exported keeps its place.
    record(few, 20)
    #expect(few.drops[.traces]?.queueFull == 16)
    exporter.release()
    await few.shutDown()
    #expect(exporter.spans.count == 8)

    let large = String(repeating: "x", count: 10_000)
    let small = try Telemetry.capturing(CapturingExporter()) { $0.batch.queueBytes = 64 * 1024 }
    for _ in 0..<100 {
      let span = small.tracer.startSpan("large")
      for number in 0..<20 { span.set("key\(number)", .string(large)) }
      span.end()
    }
    #expect(try #require(small.drops[.traces]).queueFull >= 99)
    await small.shutDown()
  }

  @Test func theContentOfASpanIsBounded() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let span = telemetry.tracer.startSpan("full")
    for number in 0..<200 {
      span.set("key\(number)", .string(String(repeating: "é", count: 5000)))
      span.addEvent("event \(number)")
    }
    span.end()
    span.set("late", true)
    await telemetry.flush()
    let state = try #require(exporter.span("full")).state
    #expect((state.attributes.count, state.droppedAttributes) == (128, 72))
    #expect((state.events.count, state.droppedEvents) == (128, 72))
    #expect(state.attributes.first?.value.description.utf8.count == 4096)
    await telemetry.shutDown()
  }

  @Test func namesAreLimitedAndCount() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter) { $0.batch.queueBytes = 100_000 }
    let long = String(repeating: "n", count: 1 << 20)
    for _ in 0..<3 {
      let span = telemetry.tracer.startSpan(long)
      for number in 0..<5 {
        span.addEvent("\(number)\(long)", [long: 1])
        span.set("\(number)\(long)", 1)
      }
      span.end()
    }
    await telemetry.flush()
    #expect(exporter.spans.count == 3)
    // Each has a name and five events of 4096 bytes. What is being exported keeps its place.
    let stuck = CapturingExporter(isHeld: true)
    let full = try Telemetry.capturing(stuck) { $0.batch.queueBytes = 100_000 }
    for _ in 0..<5 {
      let span = full.tracer.startSpan(long)
      for _ in 0..<5 { span.addEvent(long) }
      span.end()
    }
    #expect(full.drops[.traces]?.queueFull == 2)
    stuck.release()
    await full.shutDown()
    let state = try #require(exporter.spans.first).state
    #expect(state.name.utf8.count == 4096)
    #expect(state.events.allSatisfy { $0.name.utf8.count <= 4096 && $0.attributes[0].key.utf8.count == 256 })
    #expect(state.attributes.allSatisfy { $0.key.utf8.count == 256 })
    await telemetry.shutDown()
  }

  @Test func retriesAreBounded() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    exporter.answer([.retry(after: .milliseconds(1), "busy"), .retry(after: .milliseconds(1), "busy")])
    record(telemetry, 3)
    await telemetry.flush(within: .seconds(120))
    #expect(exporter.spans.count == 3)
    #expect(telemetry.drops[.traces]?.notExported == 0)
    exporter.answer([.retry(after: .seconds(1000), "come back tomorrow")])
    record(telemetry, 2)
    await telemetry.flush()
    #expect(telemetry.drops[.traces]?.notExported == 2)
    #expect(
      telemetry.lines("switchboard_telemetry_dropped_total") == [
        "switchboard_telemetry_dropped_total{reason=\"not_exported\",signal=\"traces\"} 2"
      ]
    )
    await telemetry.shutDown()
  }

  @Test func anUnreachableCollectorIsReportedAtOnceAndOnce() async throws {
    let entries = LogEntries()
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter) { $0.logger = Logger(entries) }
    exporter.answer([.retry(after: .milliseconds(1), "away"), .retry(after: .milliseconds(1), "still away")])
    record(telemetry, 1)
    await telemetry.flush(within: .seconds(120))
    #expect(
      entries.lines.withLock { $0 } == [
        "warning: traces are delayed: cannot export to the collector: away",
        "warning: traces are exported to the collector again: ",
      ]
    )
    await telemetry.shutDown()
  }

  @Test(arguments: [OTLPOptions.Transport.grpc, .http])
  func theReasonACollectorIsUnreachableIsReported(_ transport: OTLPOptions.Transport) async throws {
    let entries = LogEntries()
    // Port 1 is nobody's.
    var otlp = OTLPOptions(endpoint: "http://127.0.0.1:1", transport: transport)
    // Enough for an attempt, and too little for a pause and another one.
    otlp.retryLimit = .milliseconds(790)
    var options = TelemetryOptions(serviceName: "test")
    options.logger = Logger(entries)
    options.exporters = [.otlp(otlp, [.traces])]
    options.tracesCalls = false
    let telemetry = try Telemetry(options)
    record(telemetry, 1)
    await telemetry.shutDown()
    let reason = "unavailable (14): cannot connect to 127.0.0.1:1: connection refused"
    #expect(
      entries.lines.withLock { $0 } == [
        "warning: traces are lost: cannot export to http://127.0.0.1:1: \(reason)"
      ]
    )
  }

  @Test func aTimeLimitIsNotReportedAsTheCollectorsReason() async throws {
    let entries = LogEntries()
    let exporter = CapturingExporter(isHeld: true)
    let telemetry = try Telemetry.capturing(exporter) {
      $0.logger = Logger(entries)
      $0.batch.batchSize = 1
    }
    exporter.answer([.retry(after: nil, "the caller cancelled the call")])
    record(telemetry, 1)
    while !Task.isCancelled, exporter.attempts == 0 { await Task.yield() }
    await telemetry.shutDown(within: .milliseconds(1))
    // The export ends after the telemetry.
    while !Task.isCancelled, entries.lines.withLock({ $0.isEmpty }) { await Task.yield() }
    let reason = "there was no answer when the time was over"
    #expect(
      entries.lines.withLock { $0 } == [
        "warning: traces are lost: cannot export to the collector: \(reason)"
      ]
    )
  }

  @Test func theLimitAppliesToAllAttemptsTogether() async throws {
    let exporter = CapturingExporter()
    exporter.answer([ExportResult](repeating: .retry(after: nil, "busy"), count: 10))
    let time = ManualTime()
    let group = try LoopGroup()
    let lane = ExportLane(
      exporter,
      .logs,
      ExportTime(loop: group.nextLoop(), time: time, random: { 0.5 }),
      limit: .milliseconds(6500),
      .quiet
    )
    let record = LogRecord(date: 0, level: .info, message: "", attributes: [], context: nil)
    let export = Task { await lane.export(.logs([record, record])) }
    // The limit leaves no time for the pause of 4 s that would be next.
    for pause in [Duration.seconds(1), .seconds(2)] {
      #expect(await time.nextWait() == pause)
      time.advance(by: pause)
    }
    await export.value
    #expect(exporter.limits == [.milliseconds(6500), .milliseconds(5500), .milliseconds(3500)])
    #expect(lane.lostCount == 2)
    group.shutDown()
  }

  @Test(arguments: [Duration.zero, .seconds(-1)]) func withoutTimeForPausesThereIsOneAttempt(
    _ limit: Duration
  )
    async throws
  {
    let exporter = CapturingExporter()
    exporter.answer([.whole, .retry(after: nil, "busy")])
    let group = try LoopGroup()
    let time = ExportTime(loop: group.nextLoop(), time: ManualTime())
    let lane = ExportLane(exporter, .logs, time, limit: limit, .quiet)
    let record = LogRecord(date: 0, level: .info, message: "", attributes: [], context: nil)
    for _ in 0..<2 { await lane.export(.logs([record])) }
    // The timeout of a request still applies.
    #expect(exporter.limits == [nil, nil])
    #expect(exporter.logs.count == 1)
    #expect(lane.lostCount == 1)
    group.shutDown()
  }

  /// Without a limit of its own, the request would take ten seconds.
  @Test(arguments: [OTLPOptions.Transport.grpc, .http])
  func theLimitCutsOffARequestInProgress(_ transport: OTLPOptions.Transport) async throws {
    let socket = try ScriptedSocket()
    var otlp = OTLPOptions(endpoint: "http://127.0.0.1:\(socket.port)", transport: transport)
    otlp.timeout = .seconds(3600)
    let group = try LoopGroup()
    let exporter = try otlp.makeExporter(
      Resource(serviceName: "test", attributes: [:]),
      TelemetryClock(),
      group
    )
    let record = LogRecord(date: 0, level: .info, message: "", attributes: [], context: nil)
    // The socket accepts connections, and nobody reads them.
    let result = await exporter.export(.logs([record]), within: .milliseconds(20))
    guard case .retry(nil, let reason) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(reason == "it did not answer within 20 ms")
    await exporter.shutDown()
    group.shutDown()
  }

  /// Exports until it is cancelled, and then for a while.
  private final class LateExporter: BatchExporter {
    let destination = "the collector"
    struct Counts: Sendable {
      var begun = 0
      var ended = 0
      var endedAtTheEnd = 0
    }

    let counts = Locked(Counts())

    func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
      counts.withLock { $0.begun += 1 }
      for await _ in AsyncStream<Void>.makeStream().stream {}
      for _ in 0..<100 { await Task.yield() }
      counts.withLock { $0.ended += 1 }
      return .retry(after: nil, "cancelled")
    }

    func shutDown() async { counts.withLock { $0.endedAtTheEnd = $0.ended } }
  }

  @Test func shutDownReturnsAfterTheExportsThatItCancels() async throws {
    let exporter = LateExporter()
    var options = TelemetryOptions(serviceName: "test")
    options.batch.batchSize = 1
    options.metricInterval = TelemetryOptions.leastMetricInterval
    let telemetry = try Telemetry(
      options,
      clock: TelemetryClock(),
      ids: IDGenerator(seed: 1),
      exporters: [exporter]
    )
    telemetry.metrics.counter("a").add()
    record(telemetry, 1)
    while !Task.isCancelled, exporter.counts.withLock({ $0.begun < 2 }) { await Task.yield() }
    await telemetry.shutDown(within: .zero)
    let counts = exporter.counts.withLock { $0 }
    #expect(counts.begun == counts.ended)
    #expect(counts.endedAtTheEnd == counts.ended)
    #expect(telemetry.drops[.traces]?.notExported == 1)
    #expect(telemetry.drops[.metrics].map { $0.notExported >= 1 } == true)
  }

  @Test(arguments: [OTLPOptions.Transport.grpc, .http])
  func anUnreadableCertificateIsReportedAtTheStart(_ transport: OTLPOptions.Transport) {
    var otlp = OTLPOptions(endpoint: "https://127.0.0.1:1", transport: transport)
    otlp.tls = ClientTLS(trustRoots: .file("no/roots.pem"))
    var options = TelemetryOptions(serviceName: "test")
    options.exporters = [.otlp(otlp)]
    let failure = #expect(throws: GRPCStatus.self) { try Telemetry(options) }
    #expect(failure?.message == "TLS: cannot read the trust roots (no/roots.pem): no such file")
  }

  @Test func whatACollectorRejectsIsReported() async throws {
    let entries = LogEntries()
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter) { $0.logger = Logger(entries) }
    let partial = OTLPTraceResponse.with {
      $0.partialSuccess = .with { ($0.rejectedSpans, $0.errorMessage) = (2, "they are too old") }
    }
    exporter.answer([ExportResult(partial)])
    record(telemetry, 26)
    await telemetry.flush()
    #expect(
      entries.lines.withLock { $0 } == ["warning: the collector rejected 2 of 26 spans: they are too old"]
    )
    await telemetry.shutDown()
  }

  @Test func unendedSpansAreCounted() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    _ = telemetry.tracer.startSpan("forgotten")
    #expect(telemetry.drops[.traces]?.unended == 1)
    await telemetry.shutDown()
  }

  @Test func statusesAreRetriedAsTheProtocolSays() {
    let again: Set<GRPCStatus.Code> = [
      .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss,
    ]
    for code in GRPCStatus.Code.allCases {
      let result = ExportResult(GRPCStatus(code: code))
      if case .retry = result { #expect(again.contains(code)) } else { #expect(!again.contains(code)) }
    }
    var busy = GRPCStatus(code: .resourceExhausted)
    // Two and a half seconds, and more than five minutes: by the nanoseconds, and by as much as the fields allow.
    let delays: [([UInt8], Duration)] = [
      ([0x08, 0x02, 0x10, 0x80, 0xca, 0xb5, 0xee, 0x01], .milliseconds(2500)),
      ([0x08, 0xac, 0x02, 0x10, 0xff, 0xff, 0xff, 0xff, 0x07], .seconds(300)),
      (
        [0x08] + Array(repeating: 0xff, count: 8) + [0x7f, 0x10, 0xff, 0xff, 0xff, 0xff, 0x07], .seconds(300)
      ),
    ]
    for (delay, expected) in delays {
      // google.rpc.Status with a RetryInfo.
      let info = [0x0a, UInt8(delay.count)] + delay
      let url = Array("type.googleapis.com/google.rpc.RetryInfo".utf8)
      let any = [0x0a, UInt8(url.count)] + url + [0x12, UInt8(info.count)] + info
      busy.packedDetails = [0x1a, UInt8(any.count)] + any
      #expect(ExportResult(busy) == .retry(after: expected, busy.description))
    }
    busy.packedDetails = [0x1a, 0xff, 0xff, 0xff]
    #expect(ExportResult(busy) == .tooLarge(busy.description))
  }
}
