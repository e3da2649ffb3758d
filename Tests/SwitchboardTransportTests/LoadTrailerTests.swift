import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardText
import SwitchboardTransport
import TestSupport
import Testing

/// The load that a handler reports arrives with the status of its call (gRFC A51).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LoadTrailerTests {
  /// What a handler does with the text of the request; then it fails if the text starts so.
  private struct Busy: CallHandlerProvider {
    var serviceName: String { "test.Busy" }

    static let unary = MethodDescriptor(service: "test.Busy", method: "One", type: .unary)
    static let intercepted = MethodDescriptor(service: "test.Busy", method: "Intercepted", type: .unary)
    static let stream = MethodDescriptor(service: "test.Busy", method: "Many", type: .serverStreaming)

    static func work(_ request: [UInt8], _ context: ServerCallContext) throws {
      let commands = String(decoding: request, as: UTF8.self)
      if commands.contains("load") {
        context.loadReport.cpuUtilization = 0.25
        context.loadReport.requestCost["rows"] = 3
        context.loadReport.utilization["disk"] = 0.5
      }
      if commands.contains("odd") {
        context.loadReport.memoryUtilization = -1
        context.loadReport.queriesPerSecond = .nan
        context.loadReport.utilization["tape"] = .infinity
        context.loadReport.namedMetrics["credit"] = -2
      }
      if commands.contains("percent") { context.loadReport.cpuUtilization = 40 }
      if commands.contains("huge") {
        for number in 0..<1000 { context.loadReport.namedMetrics["a long name \(number)"] = 1 }
      }
      if commands.contains("trailers") {
        context.setTrailers(["note": "kept", "endpoint-load-metrics-bin": "AAAA"])
      }
      if commands.contains("fail") { throw GRPCStatus(code: .aborted, message: "as asked") }
    }

    var methodHandlers: [MethodHandler] {
      [
        Self.unary.bytes.unaryHandler { request, context in
          try Self.work(request, context)
          return request
        },
        Self.intercepted.bytes.unaryHandler(
          interceptors: { [Measuring()] },
          { request, context in
            try Self.work(request, context)
            return request
          }
        ),
        Self.stream.bytes.serverStreamingHandler { request, responses, context in
          try await responses.send(request)
          try Self.work(request, context)
        },
      ]
    }
  }

  /// Reports in place of the handler.
  private final class Measuring: ServerInterceptor<[UInt8], [UInt8]> {
    override func send(
      _ part: GRPCServerResponsePart<[UInt8]>,
      promise: EventLoopPromise<Void>?,
      context: ServerInterceptorContext<[UInt8], [UInt8]>
    ) {
      if case .end = part { context.loadReport.applicationUtilization = 0.75 }
      context.send(part, promise: promise)
    }
  }

  private static var expected: LoadReport {
    var report = LoadReport()
    report.cpuUtilization = 0.25
    report.requestCost = ["rows": 3]
    report.utilization = ["disk": 0.5]
    return report
  }

  private func with(
    _ wire: Wire,
    recorder: LoadRecorder? = nil,
    _ body: (Channel) async throws -> Void
  ) async throws {
    var options = ServerOptions()
    options.loadRecorder = recorder
    options.web = WebOptions(origins: .any)
    try await withChannel(to: [Busy()], over: wire, options: options, body)
  }

  /// The status and the trailers of a call.
  private func stream(_ commands: String, on channel: Channel) async throws -> (GRPCStatus, HPACKHeaders) {
    let call = channel.call(Busy.stream).makeServerStreamingCall(Array(commands.utf8))
    return (await call.status, try await call.trailingMetadata)
  }

  private func report(in trailers: HPACKHeaders) throws -> LoadReport? {
    let values = Array(trailers["endpoint-load-metrics-bin"])
    #expect(values.count < 2)
    return try values.first.map { value in
      let bytes = try #require(Base64.decode(value.utf8))
      return try #require(LoadReport(serializedBytes: bytes))
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess], ["load", "load trailers", "load fail", "load trailers fail"])
  func reportsComeWithTheStatus(_ wire: Wire, _ commands: String) async throws {
    try await with(wire) { channel async throws in
      for (status, trailers) in [
        try await stream(commands, on: channel), try await unary(commands, on: channel),
      ] {
        #expect(status.code == (commands.contains("fail") ? .aborted : .ok))
        #expect(try report(in: trailers) == Self.expected)
        #expect(trailers.first(name: "note") == (commands.contains("trailers") ? "kept" : nil))
      }
    }
  }

  private final class Doubts: LogHandler {
    private let all = Locked<[[String: String]]>([])
    var entries: [[String: String]] { all.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if message.hasPrefix("a handler, or a LoadRecorder, reports a load") {
        all.withLock { $0.append(metadata) }
      }
    }
  }

  /// It is sent as it is, and the log has it.
  @Test(arguments: [true, false]) func aPercentageIsLogged(_ byRecorder: Bool) async throws {
    let log = Doubts()
    var options = ServerOptions()
    options.logger = Logger(log)
    options.loadRecorder = byRecorder ? LoadRecorder() : nil
    options.loadRecorder?.update { $0.cpuUtilization = 40 }
    try await withChannel(to: [Busy()], options: options) { channel async throws in
      let (status, trailers) = try await unary(byRecorder ? "" : "percent", on: channel)
      #expect(status.isOk)
      #expect(try report(in: trailers)?.cpuUtilization == 40)
    }
    #expect(log.entries.count == 1)
    #expect(
      log.entries.first?["error"]
        == "cpuUtilization is 40.0: it is a share, of which 1 is all, and not in percent"
    )
    #expect(log.entries.first?["method"] == "/test.Busy/One")
  }

  private func unary(
    _ commands: String,
    _ method: MethodDescriptor = Busy.unary,
    on channel: Channel
  ) async throws -> (GRPCStatus, HPACKHeaders) {
    let call = channel.call(method).makeUnaryCall(Array(commands.utf8))
    return (await call.status, try await call.trailingMetadata)
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func withoutAReportNothingIsSent(_ wire: Wire) async throws {
    try await with(wire) { channel async throws in
      #expect(try report(in: try await unary("", on: channel).1) == nil)
      #expect(try report(in: try await stream("fail", on: channel).1) == nil)
      // The handler's own field is passed on as it is.
      let own = try await unary("trailers", on: channel).1
      #expect(own.first(name: "endpoint-load-metrics-bin") == "AAAA")
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func interceptorsReportToo(_ wire: Wire) async throws {
    try await with(wire) { channel async throws in
      var expected = Self.expected
      expected.applicationUtilization = 0.75
      #expect(try report(in: try await unary("load", Busy.intercepted, on: channel).1) == expected)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func invalidNumbersAreNotSent(_ wire: Wire) async throws {
    try await with(wire) { channel async throws in
      var expected = LoadReport()
      expected.namedMetrics = ["credit": -2]
      #expect(try report(in: try await unary("odd", on: channel).1) == expected)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess])
  func theServersLoadIsAddedOnRequest(_ wire: Wire) async throws {
    let recorder = LoadRecorder()
    recorder.update {
      $0.cpuUtilization = 0.9
      $0.memoryUtilization = 0.5
      $0.queriesPerSecond = 10
      $0.errorsPerSecond = -1
      $0.utilization = ["disk": 0.1, "net": 0.2]
      $0.requestCost = ["none": 1]
    }
    try await with(wire, recorder: recorder) { channel async throws in
      var expected = LoadReport()
      expected.cpuUtilization = 0.9
      expected.memoryUtilization = 0.5
      expected.queriesPerSecond = 10
      expected.utilization = ["disk": 0.1, "net": 0.2]
      #expect(try report(in: try await unary("", on: channel).1) == expected)
      expected.cpuUtilization = 0.25
      expected.utilization["disk"] = 0.5
      expected.requestCost = ["rows": 3]
      #expect(try report(in: try await unary("load", on: channel).1) == expected)
      recorder.update { $0 = LoadReport() }
      #expect(try report(in: try await unary("", on: channel).1) == nil)
    }
  }

  /// What the client would not accept is left out, and the call is as without it.
  @Test(arguments: ["huge", "huge fail", "huge trailers"])
  func aReportThatDoesNotFitIsLeftOut(_ commands: String) async throws {
    try await with(.ipv4) { channel async throws in
      let (status, trailers) = try await unary(commands, on: channel)
      #expect(status.code == (commands.contains("fail") ? .aborted : .ok))
      #expect(try report(in: trailers) == nil)
      #expect(trailers.first(name: "note") == (commands.contains("trailers") ? "kept" : nil))
    }
  }

  @Test(arguments: ["load", "load fail"]) func gRPCWebResponsesHaveReports(_ commands: String) async throws {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    try await withServer([Busy()], options: options) { _, address async throws in
      let peer = try FramePeer(address)
      peer.headers(
        1,
        [
          (":method", "POST"), (":scheme", "http"), (":path", "/test.Busy/One"), (":authority", "test"),
          ("content-type", "application/grpc-web"),
        ]
      )
      peer.data(1, WebMessages.frame(Array(commands.utf8)), ends: true)
      _ = try #require(peer.nextHeaders())
      var body: [UInt8] = []
      while let frame = peer.next(FramePeer.Kind.data) {
        body += frame.payload
        if frame.endsStream { break }
      }
      let value = try #require(WebMessages(body).trailers["endpoint-load-metrics-bin"])
      let bytes = try #require(Base64.decode(value.utf8))
      #expect(LoadReport(serializedBytes: bytes) == Self.expected)
    }
  }
}
