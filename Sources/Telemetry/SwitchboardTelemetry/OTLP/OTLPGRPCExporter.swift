import OTLPMessages
import Switchboard

/// Sends batches to a collector over gRPC.
final class OTLPGRPCExporter: BatchExporter {
  let destination: String
  private let channel: Channel
  private let resource: Resource
  private let encoder: OTLPEncoder
  private let options: CallOptions

  init(
    _ otlp: OTLPOptions,
    _ endpoint: OTLPEndpoint,
    _ resource: Resource,
    _ clock: TelemetryClock,
    _ group: LoopGroup
  ) throws(GRPCStatus) {
    destination = endpoint.description
    var settings = ChannelOptions()
    settings.userAgentPrefix = Resource.userAgent
    // `TelemetryOptions.logger` says what does not arrive, once and not for each attempt to connect.
    settings.logger = .quiet
    settings.security = endpoint.isSecure ? .tls(otlp.tls ?? ClientTLS()) : .plaintext
    // A collector that is available again should be noticed soon. Few processes connect to it.
    settings.connectMaxBackoff = .seconds(10)
    // The application's interceptors are not for its telemetry.
    settings.interceptorRegistry = InterceptorRegistry()
    channel = try Channel(target: endpoint.target, options: settings, group: group)
    self.resource = resource
    encoder = OTLPEncoder(clock: clock, isForJSON: false)
    var metadata = HPACKHeaders()
    for (name, value) in otlp.headers { metadata.add(name: name, value: value) }
    options = CallOptions(
      timeout: otlp.timeout,
      initialMetadata: metadata,
      compression: otlp.compression
    )
  }

  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
    var options = options
    if let limit, let timeout = options.timeout { options.timeout = max(.zero, min(timeout, limit)) }
    do {
      switch OTLPRequest(batch, resource, encoder) {
      case .traces(let request):
        let client = Opentelemetry_Proto_Collector_Trace_V1_TraceServiceClient(channel: channel)
        return ExportResult(try await client.export(request, callOptions: options))
      case .metrics(let request):
        let client = Opentelemetry_Proto_Collector_Metrics_V1_MetricsServiceClient(channel: channel)
        return ExportResult(try await client.export(request, callOptions: options))
      case .logs(let request):
        let client = Opentelemetry_Proto_Collector_Logs_V1_LogsServiceClient(channel: channel)
        return ExportResult(try await client.export(request, callOptions: options))
      }
    } catch {
      return ExportResult(error, within: options.timeout ?? .zero)
    }
  }

  func shutDown() async { await channel.shutDown(grace: .zero) }
}

extension ExportResult {
  /// The result of a request that failed and had this much time.
  init(_ failure: any Error, within timeout: Duration) {
    switch GRPCStatus(describing: failure) {
    case let status where status.code == .deadlineExceeded && status.origin == .library:
      self = .retry(after: nil, "it did not answer within \(timeout.shown)")
    case .peerSpeaksHTTP1, .peerSpeaksNoHTTP2, .noHTTP2:
      self = .refused("it does not speak HTTP/2: is this the port for OTLP over HTTP?")
    case .answerIsNotHTTP1:
      self = .refused("the answer is not HTTP/1.1: is this the port for OTLP over gRPC?")
    case let status: self.init(status)
    }
  }

  /// Classifies a failure as OpenTelemetry's protocol does.
  init(_ status: GRPCStatus) {
    switch status.code {
    case .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss:
      self = .retry(after: status.retryDelay, status.description)
    case .resourceExhausted where status.retryDelay != nil:
      self = .retry(after: status.retryDelay, status.description)
    case .resourceExhausted:
      self = .tooLarge(status.description)
    default:
      self = .refused(status.description)
    }
  }
}

extension Duration {
  /// In seconds if there is a whole number of them, and otherwise in milliseconds.
  fileprivate var shown: String {
    let milliseconds = Int((min(self, .seconds(1 << 40)) / .milliseconds(1)).rounded())
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }
}

extension GRPCStatus {
  /// The time to wait that an overloaded collector has set with `google.rpc.RetryInfo` in the details.
  fileprivate var retryDelay: Duration? {
    guard let packedDetails, let details = try? RetryDetails(packedDetails) else { return nil }
    return details.delay
  }
}
