import SwitchboardCall

/// A log entry, with the span in which it was written.
struct LogRecord: Sendable {
  /// In nanoseconds since 1970.
  let date: UInt64
  let level: LogLevel
  let message: String
  let attributes: [Attribute]
  let context: SpanContext?

  /// The approximate number of bytes that it takes in memory.
  var cost: Int { 256 + message.utf8.count + attributes.reduce(0) { $0 + $1.cost } }
}

extension LogLevel {
  var label: String {
    switch self {
    case .trace: "TRACE"
    case .debug: "DEBUG"
    case .info: "INFO"
    case .warning: "WARN"
    case .error: "ERROR"
    }
  }

  /// The severity number in OpenTelemetry.
  var severity: Int {
    switch self {
    case .trace: 1
    case .debug: 5
    case .info: 9
    case .warning: 13
    case .error: 17
    }
  }
}
