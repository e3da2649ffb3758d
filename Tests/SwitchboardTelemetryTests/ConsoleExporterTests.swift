import CallTestSupport
import Foundation
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// What the console exporter writes, byte for byte.
@Suite(.timeLimit(.minutes(5))) struct ConsoleExporterTests {
  private let trace = TraceID(high: 0x0af7, low: 1)

  /// What is written for these batches. Few enough for a pipe.
  private func output(_ batches: ExportBatch...) async throws -> String {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    do {
      let exporter = ConsoleExporter(TelemetryClock { 0 }, descriptor: ends[1])
      close(ends[1])
      for batch in batches { #expect(await exporter.export(batch, within: nil) == .whole) }
      await exporter.shutDown()
    }
    let handle = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }

  private func span(_ name: String, parent: SpanID? = nil, _ change: (Span) -> Void = { _ in }) throws
    -> SpanRecord
  {
    let records = Locked<[SpanRecord]>([])
    let tracer = Tracer(
      TelemetryClock { 1_763_901_940_123_456_789 },
      .always,
      SpanLimits(),
      IDGenerator(seed: 1),
      isEnabled: true,
      sink: { record in records.withLock { $0.append(record) } },
      lost: {}
    )
    let context = SpanContext(traceID: trace, spanID: SpanID(2), isSampled: true)
    let identity = parent.map { SpanIdentity(trace, $0, isSampled: true) } ?? .none
    let span = Span(name, context, parent: identity, kind: .server, start: 1_763_901_940_000_000_000, tracer)
    change(span)
    span.end()
    return try #require(records.withLock { $0.first })
  }

  @Test func spansAreLines() async throws {
    let plain = try span("Recv.shop.Cart.Add")
    let failed = try span("two\nwords", parent: SpanID(3)) { span in
      span.set("rpc.grpc.status_code", .int(14))
      span.set("a b", "x \"y\"\u{1b}[2J")
      span.addEvent("not shown")
      span.fail("UNAVAILABLE: gone\r\nforged=1")
    }
    let text = try await output(.spans([plain, failed]))
    #expect(
      text == """
        span=Recv.shop.Cart.Add trace=0000000000000af70000000000000001 id=0000000000000002 kind=server \
        start=2025-11-23T12:45:40.000000Z us=123456
        span="two\\nwords" trace=0000000000000af70000000000000001 id=0000000000000002 parent=0000000000000003 \
        kind=server start=2025-11-23T12:45:40.000000Z us=123456 rpc.grpc.status_code=14 a_b="x \\"y\\"\\u001b[2J" \
        error="UNAVAILABLE: gone\\r\\nforged=1"

        """
    )
  }

  @Test func metricsAreALineForEachSeries() async throws {
    let histogram = HistogramValue(bounds: [1, 2], counts: [1, 0, 3], sum: 4.5, exemplars: [:])
    func family(_ name: String, _ kind: MetricFamily.Kind, _ points: [MetricPoint]) -> MetricFamily {
      MetricFamily(descriptor: MetricDescriptor(name, kind, unit: "1", "not shown"), points: points)
    }
    let snapshot = MetricSnapshot(
      families: [
        family(
          "calls",
          .counter,
          [
            MetricPoint(attributes: [Attribute("grpc.method", "a.B/C")], value: .int(7)),
            MetricPoint(attributes: [Attribute("grpc.method", "")], value: .int(-1)),
          ]
        ),
        family("none", .counter, []),
        family("load", .gauge, [MetricPoint(attributes: [], value: .double(0.25))]),
        family("size", .histogram, [MetricPoint(attributes: [], value: .histogram(histogram))]),
      ],
      start: 0,
      date: 0
    )
    #expect(
      try await output(.metrics(snapshot)) == """
        metric=calls grpc.method=a.B/C value=7
        metric=calls grpc.method="" value=-1
        metric=load value=0.25
        metric=size count=4 sum=4.5

        """
    )
  }

  @Test func logRecordsAreLinesOfLogfmt() async throws {
    let record = LogRecord(
      date: 1_763_901_940_123_456_789,
      level: .error,
      message: "it broke",
      attributes: [Attribute("why", "disk\nfull")],
      context: SpanContext(traceID: trace, spanID: SpanID(2), isSampled: true)
    )
    #expect(
      try await output(.logs([record]), .logs([])) == """
        time=2025-11-23T12:45:40.123456Z level=ERROR msg="it broke" trace_id=0000000000000af70000000000000001 \
        span_id=0000000000000002 why="disk\\nfull"

        """
    )
  }

  /// A console that is not there loses lines, which count, and nothing else.
  @Test func aBrokenConsoleFailsNothing() async throws {
    let exporter = ConsoleExporter(TelemetryClock { 0 }, descriptor: -1)
    let one = ExportResult.taken(rejected: 1, message: "the lines cannot be written")
    #expect(await exporter.export(.spans([try span("lost")]), within: nil) == one)
    #expect(await exporter.export(.spans([]), within: nil) == .whole)
    await exporter.shutDown()
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    let unread = ConsoleExporter(TelemetryClock { 0 }, descriptor: ends[1])
    close(ends[1])
    let spans = [try span("lost"), try span("lost too")]
    #expect(
      await unread.export(.spans(spans), within: nil)
        == .taken(rejected: 2, message: "the lines cannot be written")
    )
    #expect(await unread.export(.spans([try span("lost")]), within: nil) == one)
    await unread.shutDown()
  }

  /// A reader that has stopped does not hold up exports. What it never reads stays with the writer.
  @Test func aBlockedConsoleDelaysNoExport() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let time = ManualTime()
    let exporter = ConsoleExporter(TelemetryClock { 0 }, descriptor: ends[1], time: time)
    close(ends[1])
    let long = try span(String(repeating: "x", count: 4000))
    // More than a pipe holds. No time passes.
    #expect(await exporter.export(.spans([SpanRecord](repeating: long, count: 100)), within: nil) == .whole)
    #expect(await exporter.export(.logs([]), within: nil) == .whole)
    // Reading lets the writer end.
    let handle = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let reader = Thread { while !handle.availableData.isEmpty {} }
    reader.start()
    await exporter.shutDown()
  }

  /// Lines that are lost count for the signal that they belong to, although one thread writes all of them.
  @Test func lostLinesCountForTheirSignal() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    let exporter = ConsoleExporter(TelemetryClock { 0 }, descriptor: ends[1])
    close(ends[1])
    let record = LogRecord(date: 0, level: .info, message: "lost", attributes: [], context: nil)
    #expect(
      await exporter.export(.logs([record, record]), within: nil)
        == .taken(rejected: 2, message: "the lines cannot be written")
    )
    #expect(await exporter.export(.spans([]), within: nil) == .whole)
    #expect(
      await exporter.export(.spans([try span("lost")]), within: nil)
        == .taken(rejected: 1, message: "the lines cannot be written")
    )
    await exporter.shutDown()
  }

  /// Lines of different signals never mix, however long they are and however the pipe takes them.
  @Test(.mayBlock) func linesOfSeveralSignalsAreWhole() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let exporter = ConsoleExporter(TelemetryClock { 0 }, descriptor: ends[1])
    close(ends[1])
    let reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let span = try span(String(repeating: "s", count: 5000))
    let message = String(repeating: "l", count: 5000)
    let record = LogRecord(date: 0, level: .info, message: message, attributes: [], context: nil)
    async let spans = exporter.export(.spans([SpanRecord](repeating: span, count: 50)), within: nil)
    async let logs = exporter.export(.logs([LogRecord](repeating: record, count: 50)), within: nil)
    var text = Data()
    while text.count(where: { $0 == UInt8(ascii: "\n") }) < 100 { text += reader.availableData }
    #expect(await [spans, logs] == [.whole, .whole])
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("span=\(span.state.name) trace=") } == 50)
    #expect(lines.count { $0.hasSuffix("msg=\(message)") } == 50)
    await exporter.shutDown()
  }
}
