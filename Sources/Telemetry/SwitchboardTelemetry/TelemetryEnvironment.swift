/// What options have of the environment: an option that the program has changed since is its own.
package final class TelemetryEnvironment: Sendable {
  /// The names of the variables that were set, sorted. Their values may be secrets.
  private let names: [String]
  /// The options as they were read.
  package let options: TelemetryOptions

  init(_ environment: [String: String], _ options: TelemetryOptions) {
    names = environment.filter { !$0.value.isEmpty && $0.key.utf8.starts(with: "OTEL_".utf8) }.keys.sorted()
    self.options = options
  }

  /// Those of them that decide about an option.
  package func variables(of option: String) -> [String] {
    let starts = Self.starts[option] ?? []
    return names.filter { name in
      starts.contains { name.utf8.starts(with: $0.utf8) }
    }
  }

  /// What the names of an option's variables begin with.
  private static let starts: [String: [String]] = [
    "countsCalls": ["OTEL_SDK_DISABLED"],
    "resource": ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"],
    "sampler": ["OTEL_TRACES_SAMPLER"],
    "propagators": ["OTEL_PROPAGATORS"],
    "batch": ["OTEL_BSP_"],
    "logBatch": ["OTEL_BLRP_"],
    "metricInterval": ["OTEL_METRIC_EXPORT_INTERVAL"],
    "exporters": [
      "OTEL_EXPORTER_OTLP_", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER",
      "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_METRIC_EXPORT_TIMEOUT", "OTEL_BLRP_EXPORT_TIMEOUT",
    ],
  ]
}
