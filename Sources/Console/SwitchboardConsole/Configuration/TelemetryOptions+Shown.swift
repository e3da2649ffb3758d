import ConsoleMessages
import SwitchboardCall
import SwitchboardTelemetry

extension TelemetryOptions {
  /// What is shown of them.
  static let shown = ShownOptions<TelemetryOptions>([
    // Attributes may have values that are nobody's business.
    ShownOption("resource") { options in
      let names = options.resource.attributes.keys.filter { !$0.utf8.elementsEqual("service.name".utf8) }
      let others = names.isEmpty ? "" : "; with \(names.sorted().listed)"
      return "\(options.resource.serviceName)\(others)"
    },
    ShownOption("countsCalls", \.countsCalls),
    ShownOption("tracesCalls", \.tracesCalls),
    ShownOption("givesContext", \.givesContext),
    ShownOption("spanOfTask") { $0.spanOfTask == nil ? "none" : "of another library" },
    ShownOption("sampler", \.sampler),
    ShownOption("propagators") { options in
      let names = options.propagators.map { $0 == .traceContext ? "traceparent" : "grpc-trace-bin" }
      return names.isEmpty ? "none" : names.sorted().listed
    },
    ShownOption("recordsMessages", \.recordsMessages),
    ShownOption("exporters") { options in
      options.exporters.isEmpty ? "none" : options.exporters.map(\.shown).joined(separator: "\n")
    },
    ShownOption("metrics", \.metrics),
    ShownOption("cardinalityLimit", \.cardinalityLimit),
    ShownOption("batch", \.batch),
    ShownOption("logBatch") { $0.logBatch?.shown ?? "that of spans" },
    ShownOption("metricInterval", \.metricInterval),
    ShownOption("logger", \.logger),
  ])

  /// The options line by line.
  var lines: [Switchboard_Console_V1_Option] {
    let environment = environment
    return Self.shown.lines(self, standard: TelemetryOptions()) { option in
      guard let environment else { return nil }
      let names = environment.variables(of: option.name)
      // What the program has changed since is its own.
      guard !names.isEmpty, option.text(environment.options).utf8.elementsEqual(option.text(self).utf8) else {
        return nil
      }
      return names.listed
    }
  }
}

extension Sampler: ShownValue {
  var shown: String {
    switch self {
    case .always: "all traces"
    case .never: "no traces"
    case .ratio(let share): "\((share * 10_000).rounded() / 100) % of traces"
    case .parentBased(let root): "as the caller decides; \(root.shown) that begin here"
    }
  }
}

extension BatchOptions: ShownValue {
  var shown: String {
    "\(queueSize.shown) items, \(queueBytes.shownBytes); \(batchSize.shown) at once, after \(delay.shown)"
  }
}

extension MetricSelection: ShownValue {
  var shown: String {
    let parts = [("with", enabled), ("without", disabled), ("labels", optionalLabels)]
      .filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.sorted().listed)" }
    return parts.isEmpty ? "the usual ones" : parts.joined(separator: "; ")
  }
}

extension TelemetryExporter: ShownValue {
  var shown: String {
    switch self {
    case .otlp(let options, let signals): "OTLP of \(Self.shown(signals)): \(options.shown)"
    case .console(let signals): "standard error, \(Self.shown(signals))"
    case .spans: "spans to the program"
    }
  }

  private static func shown(_ signals: Set<TelemetrySignal>) -> String {
    signals.isEmpty ? "nothing" : signals.map(\.rawValue).sorted().joined(separator: ", ")
  }
}

extension OTLPOptions: ShownValue {
  var shown: String {
    var parts = [
      destination, transport.rawValue, "timeout \(timeout.shown)", "repeated for \(retryLimit.shown)",
      "compression \(compression.shown)",
    ]
    // Their values are credentials, and so may be what looks like a name.
    if !headers.isEmpty { parts.append("with headers") }
    if let tls { parts.append("TLS; \(tls.shown)") }
    return parts.joined(separator: ", ")
  }
}
