public import SwitchboardCall
import SwitchboardText
public import SwitchboardTransport

/// Options from the environment variables that OpenTelemetry defines.
extension TelemetryOptions {
  /// Reads the `OTEL_*` variables. Without them, the defaults of OpenTelemetry apply, which export everything to a
  /// collector on this machine. Invalid values are logged and ignored.
  ///
  /// ```swift
  /// let options = TelemetryOptions(environment: ProcessInfo.processInfo.environment)
  /// ```
  /// `docs/guide/Telemetry.md` lists the variables.
  public init(environment: [String: String], logger: Logger = .standardError) {
    self.init()
    self.logger = logger
    defer { self.environment = TelemetryEnvironment(environment, self) }
    // A variable with an empty value counts as not set.
    let reader = EnvironmentReader(environment.filter { !$0.value.isEmpty }, logger)
    reader.warnOfUselessNames()
    guard !reader.flag("OTEL_SDK_DISABLED") else {
      // Traces of callers are passed on nevertheless, as OpenTelemetry requires.
      countsCalls = false
      if let propagators = reader.propagators { self.propagators = propagators }
      return
    }
    resource = reader.resource
    if let sampler = reader.sampler { self.sampler = sampler }
    if let propagators = reader.propagators { self.propagators = propagators }
    batch = reader.batch("OTEL_BSP", delay: .seconds(5))
    logBatch = reader.batch("OTEL_BLRP", delay: .seconds(1))
    metricInterval = reader.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", from: 100) ?? metricInterval
    exporters = reader.exporters
    exportsLogsByDefault = !reader.namesExporter(of: .logs)
  }
}

/// Reads variables, and logs which of them are invalid.
private final class EnvironmentReader {
  private let environment: [String: String]
  private let logger: Logger
  /// What was logged. Several signals may read one variable.
  private var warnings: Set<String> = []

  init(_ environment: [String: String], _ logger: Logger) {
    self.environment = environment
    self.logger = logger
  }

  /// The value may be a secret, which no warning shows.
  private func warn(_ name: String, _ what: String) {
    guard warnings.insert("\(name) \(what)").inserted else { return }
    logger.log(.warning, "\(name) \(what)")
  }

  private func reject<Value>(_ name: String, expected: String) -> Value? {
    warn(name, "has an invalid value and is ignored; expected \(expected)")
    return nil
  }

  func flag(_ name: String) -> Bool {
    switch environment[name]?.lowercased() {
    case "true": return true
    case "false", nil: return false
    default: return reject(name, expected: "true or false") ?? false
    }
  }

  func count(_ name: String, atMost limit: Int = 10_000_000, _ reason: String = "") -> Int? {
    guard let text = environment[name] else { return nil }
    guard let value = Int(text), (1...limit).contains(value) else {
      return reject(name, expected: "a number from 1 to \(limit)\(reason)")
    }
    return value
  }

  func milliseconds(_ name: String, from least: Int = 0) -> Duration? {
    guard let text = environment[name] else { return nil }
    guard let value = Int(text), (least...86_400_000).contains(value) else {
      return reject(name, expected: "a number of milliseconds from \(least) to 86400000")
    }
    return .milliseconds(value)
  }

  /// A limit, which 0 removes.
  func timeout(_ name: String) -> Duration? {
    milliseconds(name).map { $0 == .zero ? .milliseconds(Int(Int32.max)) : $0 }
  }

  /// The queue of a signal, with the delay that OpenTelemetry gives it by default.
  func batch(_ prefix: String, delay: Duration) -> BatchOptions {
    var batch = BatchOptions()
    batch.queueSize = count("\(prefix)_MAX_QUEUE_SIZE") ?? batch.queueSize
    let limit = batch.queueSize
    batch.batchSize =
      count("\(prefix)_MAX_EXPORT_BATCH_SIZE", atMost: limit, ", the size of the queue")
      ?? min(batch.batchSize, limit)
    batch.delay = milliseconds("\(prefix)_SCHEDULE_DELAY") ?? delay
    return batch
  }

  // MARK: Names

  private static let signals = TelemetrySignal.allCases.map { $0.rawValue.uppercased() }
  /// The variables that are read.
  private static let known: [String] =
    [
      "OTEL_SDK_DISABLED", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER",
      "OTEL_TRACES_SAMPLER_ARG", "OTEL_PROPAGATORS", "OTEL_METRIC_EXPORT_INTERVAL",
      "OTEL_METRIC_EXPORT_TIMEOUT",
    ] + signals.map { "OTEL_\($0)_EXPORTER" }
    + ["OTEL_BSP", "OTEL_BLRP"].flatMap { prefix in
      ["MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE", "SCHEDULE_DELAY", "EXPORT_TIMEOUT"].map {
        "\(prefix)_\($0)"
      }
    }
    + [
      "PROTOCOL", "ENDPOINT", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_CERTIFICATE",
      "CLIENT_KEY",
    ].flatMap { name in ["OTEL_EXPORTER_OTLP_\(name)"] + signals.map { "OTEL_EXPORTER_OTLP_\($0)_\(name)" } }
  /// What else OpenTelemetry defines, and what to do instead.
  private static let others: [(name: String, instead: String)] =
    ([""] + signals.map { "\($0)_" }).map {
      ("OTEL_EXPORTER_OTLP_\($0)INSECURE", "the scheme of the endpoint decides, http or https")
    }
    + ["HOST", "PORT"].map {
      ("OTEL_EXPORTER_PROMETHEUS_\($0)", "the program serves its metrics, by serveMetrics or metricsPage")
    }
  private static let mostOtherLetters = 2

  /// Warns of names that mean nothing, and resemble one that does. Other languages have variables of their own.
  func warnOfUselessNames() {
    for name in environment.keys.sorted() where !Self.known.contains(name) {
      if let other = Self.others.first(where: { $0.name == name }) {
        warn(name, "has no effect: \(other.instead)")
      } else if name.uppercased().hasPrefix("OTEL_"), let near = Self.near(name) {
        warn(name, "has no effect (did you mean \(near)?)")
      }
    }
    if environment["OTEL_TRACES_SAMPLER_ARG"] != nil, environment["OTEL_TRACES_SAMPLER"] == nil {
      warn(
        "OTEL_TRACES_SAMPLER_ARG",
        "has no effect without OTEL_TRACES_SAMPLER, such as parentbased_traceidratio"
      )
    }
  }

  private static func near(_ name: String) -> String? {
    guard let near = NearNames(of: name, in: known).best else { return nil }
    return abs(near.utf8.count - name.utf8.count) <= mostOtherLetters ? near : nil
  }

  // MARK: Resource

  var resource: Resource {
    var attributes: [String: AttributeValue] = [:]
    for (key, value) in pairs("OTEL_RESOURCE_ATTRIBUTES") { attributes[key] = .string(value) }
    if let name = environment["OTEL_SERVICE_NAME"] { attributes["service.name"] = .string(name) }
    let name = attributes["service.name"]?.description ?? Resource.unknownService
    return Resource(serviceName: name, attributes: attributes)
  }

  /// `key=value,key=value`, with `%` escapes in values.
  private func pairs(_ name: String) -> [(String, String)] {
    guard let text = environment[name] else { return [] }
    var pairs: [(String, String)] = []
    for part in text.split(separator: ",") {
      let piece = part.trimmed
      guard let equals = piece.firstIndex(of: "="), equals > piece.startIndex else {
        let _: Int? = reject(name, expected: "key=value,key=value")
        return []
      }
      let value = piece[piece.index(after: equals)...].trimmed
      pairs.append((String(piece[..<equals].trimmed), value.percentDecoded))
    }
    return pairs
  }

  // MARK: Traces

  var sampler: Sampler? {
    guard let name = environment["OTEL_TRACES_SAMPLER"] else { return nil }
    switch name.lowercased() {
    case "always_on": return .always
    case "always_off": return .never
    case "traceidratio": return .ratio(share)
    case "parentbased_always_on": return .parentBased(.always)
    case "parentbased_always_off": return .parentBased(.never)
    case "parentbased_traceidratio": return .parentBased(.ratio(share))
    default:
      let known = "always_on, always_off, traceidratio, or one of these after parentbased_"
      return reject("OTEL_TRACES_SAMPLER", expected: known)
    }
  }

  /// The share of traces to record.
  private var share: Double {
    guard let text = environment["OTEL_TRACES_SAMPLER_ARG"] else { return 1 }
    guard let share = Double(text), (0...1).contains(share) else {
      return reject("OTEL_TRACES_SAMPLER_ARG", expected: "a number from 0 to 1") ?? 1
    }
    return share
  }

  var propagators: Set<Propagator>? {
    guard let text = environment["OTEL_PROPAGATORS"] else { return nil }
    var propagators: Set<Propagator> = []
    for name in text.split(separator: ",") {
      switch name.trimmed.lowercased() {
      case "tracecontext": propagators.insert(.traceContext)
      case "grpc-trace-bin": propagators.insert(.grpcTraceBin)
      // Each client decides whether to pass baggage on.
      case "baggage", "none": break
      default: return reject("OTEL_PROPAGATORS", expected: "tracecontext, grpc-trace-bin, baggage or none")
      }
    }
    return propagators
  }

  // MARK: Exporters

  var exporters: [TelemetryExporter] {
    var exporters: [TelemetryExporter] = []
    for signal in TelemetrySignal.allCases {
      for name in exporterNames(signal) ?? ["otlp"] {
        switch name {
        case "otlp": exporters.append(.otlp(otlp(signal), [signal]))
        case "console": exporters.append(.console([signal]))
        // The program serves the metrics itself, by `metricsPage` or `serveMetrics`.
        default: break
        }
      }
    }
    return exporters
  }

  /// Whether a variable names the exporters of a signal.
  func namesExporter(of signal: TelemetrySignal) -> Bool { environment[Self.exporterVariable(signal)] != nil }

  private static func exporterVariable(_ signal: TelemetrySignal) -> String {
    "OTEL_\(signal.rawValue.uppercased())_EXPORTER"
  }

  /// The names of a signal's exporters; `nil` if the default applies, as OpenTelemetry demands for unknown names.
  private func exporterNames(_ signal: TelemetrySignal) -> [String]? {
    let variable = Self.exporterVariable(signal)
    guard let text = environment[variable] else { return nil }
    let known = ["otlp", "console"] + (signal == .metrics ? ["prometheus"] : [])
    let names = text.split(separator: ",").map { $0.trimmed.lowercased() }
    guard names.allSatisfy({ known.contains($0) || $0 == "none" }) else {
      return reject(variable, expected: known.joined(separator: ", ") + " or none. The default is otlp")
    }
    return names
  }

  /// The variable for one signal or, if it is not set, the one for all signals.
  private func value(_ signal: TelemetrySignal, _ name: String) -> (name: String, value: String)? {
    for name in ["OTEL_EXPORTER_OTLP_\(signal.rawValue.uppercased())_\(name)", "OTEL_EXPORTER_OTLP_\(name)"] {
      if let value = environment[name] { return (name, value) }
    }
    return nil
  }

  private func otlp(_ signal: TelemetrySignal) -> OTLPOptions {
    var transport = OTLPOptions.Transport.http
    if let (name, text) = value(signal, "PROTOCOL") {
      if let known = OTLPOptions.Transport(rawValue: text.lowercased()) {
        transport = known
      } else {
        let _: Int? = reject(name, expected: "grpc, http/protobuf or http/json")
      }
    }
    var options = OTLPOptions(transport: transport)
    if let (name, url) = value(signal, "ENDPOINT") {
      var given = options
      given.endpoint = url
      // The URL of one signal is used as it is.
      given.isWholeURL = name != "OTEL_EXPORTER_OTLP_ENDPOINT"
      do {
        _ = try OTLPEndpoint(given)
        options = given
      } catch {
        warn(name, "is ignored: \(error.message ?? "")")
      }
    }
    if let (name, _) = value(signal, "HEADERS") { options.headers = headers(name) }
    if let (name, _) = value(signal, "TIMEOUT"), let timeout = timeout(name) {
      options.timeout = timeout
    }
    if let (name, text) = value(signal, "COMPRESSION") {
      switch text.lowercased() {
      case "gzip": options.compression = .gzip
      case "none": options.compression = .none
      default: let _: Int? = reject(name, expected: "gzip or none")
      }
    }
    if let limit = timeout(Self.exportTimeout(signal)) { options.retryLimit = limit }
    if (try? OTLPEndpoint(options))?.isSecure == true {
      options.tls = tls(signal)
    } else {
      for name in ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"] {
        guard let (name, _) = value(signal, name) else { continue }
        warn(name, "is ignored: the collector's URL begins with http, which means plaintext")
      }
    }
    return options
  }

  /// The headers that can be sent. A name that is not valid may be a secret whose name was forgotten.
  private func headers(_ variable: String) -> [(String, String)] {
    pairs(variable).filter { name, value in
      guard let fault = OTLPOptions.fault(ofHeader: name, value) else { return true }
      warn(variable, "has a header that \(fault), which is ignored")
      return false
    }
  }

  /// The variable that limits how long the export of a batch may take.
  private static func exportTimeout(_ signal: TelemetrySignal) -> String {
    switch signal {
    case .traces: "OTEL_BSP_EXPORT_TIMEOUT"
    case .metrics: "OTEL_METRIC_EXPORT_TIMEOUT"
    case .logs: "OTEL_BLRP_EXPORT_TIMEOUT"
    }
  }

  private func tls(_ signal: TelemetrySignal) -> ClientTLS? {
    var tls = ClientTLS()
    tls.trustRoots = value(signal, "CERTIFICATE").map { .file($0.value) }
    switch (value(signal, "CLIENT_CERTIFICATE"), value(signal, "CLIENT_KEY")) {
    case (let chain?, let key?):
      tls.credentials = TLSCredentials(certificateChain: .file(chain.value), privateKey: .file(key.value))
    case (let alone?, nil), (nil, let alone?):
      let _: Int? = reject(alone.name, expected: "a client certificate together with its key")
    case (nil, nil): break
    }
    return tls == ClientTLS() ? nil : tls
  }
}
