import OTLPMessages
import Switchboard
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardText
import SwitchboardTransport

/// Sends batches to a collector in POST requests, as protobuf or JSON.
final class OTLPHTTPExporter: BatchExporter {
  var destination: String { endpoint.description }
  private let otlp: OTLPOptions
  private let endpoint: OTLPEndpoint
  private let resource: Resource
  private let encoder: OTLPEncoder
  private let clock: TelemetryClock
  private let loop: Loop
  private let isJSON: Bool

  init(
    _ otlp: OTLPOptions,
    _ endpoint: OTLPEndpoint,
    _ resource: Resource,
    _ clock: TelemetryClock,
    _ group: LoopGroup
  ) throws(GRPCStatus) {
    self.otlp = otlp
    self.endpoint = endpoint
    self.resource = resource
    self.clock = clock
    isJSON = otlp.transport == .httpJSON
    encoder = OTLPEncoder(clock: clock, isForJSON: isJSON)
    loop = group.nextLoop()
    // Reports an invalid endpoint or certificate now, instead of with each batch.
    _ = try post([], to: endpoint.path, .zero)
  }

  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
    let request = OTLPRequest(batch, resource, encoder)
    let timeout = min(otlp.timeout, limit ?? otlp.timeout)
    do {
      let post = try post(try body(of: request.message), to: path(for: batch.signal), timeout)
      return result(try await post.send(), batch.signal)
    } catch {
      return ExportResult(error, within: timeout)
    }
  }

  private func post(
    _ body: [UInt8],
    to path: String,
    _ timeout: Duration
  ) throws(GRPCStatus) -> HTTPPost {
    try HTTPPost(
      to: endpoint.host,
      port: endpoint.port,
      path: path,
      headers,
      body,
      isCompressed: otlp.compression == .gzip,
      tls: endpoint.isSecure ? otlp.tls ?? ClientTLS() : nil,
      timeout: timeout,
      on: loop
    )
  }

  func shutDown() async {}

  private func path(for signal: TelemetrySignal) -> String {
    if otlp.isWholeURL { return endpoint.path }
    return (endpoint.path.hasSuffix("/") ? String(endpoint.path.dropLast()) : endpoint.path)
      + "/v1/\(signal.rawValue)"
  }

  private var headers: HTTPPost.Headers {
    var headers = otlp.headers
    headers.append(("content-type", isJSON ? "application/json" : "application/x-protobuf"))
    headers.append(("user-agent", Resource.userAgent))
    return headers
  }

  private func body(of message: any Message) throws -> [UInt8] {
    guard isJSON else { return try message.serializedBytes() }
    var options = JSONEncodingOptions()
    options.alwaysPrintEnumsAsInts = true
    return try message.jsonUTF8Bytes(options: options)
  }

  private func result(_ answer: HTTPAnswer, _ signal: TelemetrySignal) -> ExportResult {
    switch answer.status {
    case 200..<300:
      return partial(answer, signal)
    case 429, 502, 503, 504:
      let now = Int(clock.date(of: clock.now) / 1_000_000_000)
      let wanted = answer.header("retry-after").flatMap { RetryAfter.delay($0, now: now) }
      return .retry(after: wanted, reason(answer, signal))
    case 413:
      return .tooLarge(reason(answer, signal))
    default:
      return .refused(reason(answer, signal))
    }
  }

  /// Names the URL, but not its query, which may be a secret.
  private func reason(_ answer: HTTPAnswer, _ signal: TelemetrySignal) -> String {
    "HTTP status \(answer.status) from \(destination)\(path(for: signal).prefix { $0 != "?" })"
  }

  /// The result of a batch that the collector has taken, by the status. A body that cannot be read does not change
  /// that.
  private func partial(_ answer: HTTPAnswer, _ signal: TelemetrySignal) -> ExportResult {
    do {
      switch signal {
      case .traces: return ExportResult(try read(OTLPTraceResponse.self, answer))
      case .metrics: return ExportResult(try read(OTLPMetricsResponse.self, answer))
      case .logs: return ExportResult(try read(OTLPLogsResponse.self, answer))
      }
    } catch {
      return .taken(rejected: 0, message: "the answer is not OTLP: \(error)")
    }
  }

  private func read<Response: Message>(_ type: Response.Type, _ answer: HTTPAnswer) throws -> Response {
    guard !answer.body.isEmpty else { return Response() }
    if answer.header("content-type")?.begins(with: "application/json") ?? isJSON {
      var options = JSONDecodingOptions()
      options.ignoreUnknownFields = true
      return try Response(jsonUTF8Bytes: answer.body, options: options)
    }
    return try Response(serializedBytes: answer.body)
  }
}
