public import SwitchboardCall

/// Options for exporting to a collector by OTLP.
public struct OTLPOptions: Sendable {
  /// The protocol that carries the messages.
  public enum Transport: String, Sendable {
    /// gRPC.
    case grpc
    /// Protobuf in POST requests.
    case http = "http/protobuf"
    /// JSON in POST requests.
    case httpJSON = "http/json"
  }

  /// The collector's URL: `http://host:port`, or `https` for TLS. Over HTTP it may have a path, to which paths such as
  /// `/v1/traces` are appended.
  public var endpoint: String
  /// The protocol that carries the messages.
  public var transport: Transport
  /// Headers of every request, for example with a token. Those that the exporter sets itself, such as `content-type`
  /// and `user-agent`, are an error of `Telemetry.init`, as are invalid ones.
  public var headers: [(String, String)] = []
  /// The timeout of one request.
  public var timeout = Duration.seconds(10)
  /// How long the export of a batch may take, with the repetitions of its request and the pauses between them. Then the
  /// batch is dropped, even if a request is in progress. With zero or less, there is one request and no repetition.
  public var retryLimit = Duration.seconds(60)
  /// The compression of requests: over HTTP none or gzip.
  public var compression = MessageCompression.none
  /// Whether the endpoint over HTTP is the URL of a single signal, to which no path is appended.
  var isWholeURL = false
  /// The settings of TLS for `https`, and an error of `Telemetry.init` with `http`. `nil`: the defaults, with the
  /// system's certificates.
  public var tls: ClientTLS?

  /// Options for the collector at `endpoint`, by default the one on this machine.
  public init(endpoint: String? = nil, transport: Transport = .grpc) {
    self.transport = transport
    self.endpoint = endpoint ?? (transport == .grpc ? "http://localhost:4317" : "http://localhost:4318")
  }
}

extension OTLPOptions: RuledOptions {
  package static let rules: [OptionRule<OTLPOptions>] = [
    OptionRule(\.timeout, "timeout", .above(.zero), because: "an answer takes time"),
    OptionRule(\.retryLimit, "retryLimit", .any),
  ]
}

extension OTLPOptions {
  /// The collector's scheme, host and port, without what may be a secret: headers, and paths in which some vendors have a key.
  package var destination: String { (try? OTLPEndpoint(self)).map { "\($0)" } ?? "" }
}
