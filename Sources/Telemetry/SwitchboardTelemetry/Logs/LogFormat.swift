import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText

/// The format of a log. Each entry is one line.
public enum LogFormat: Sendable {
  /// A JSON object, for log collectors: `{"time":…,"level":…,"message":…}`.
  case jsonLines
  /// `time=… level=… msg=… key=value`.
  case logfmt
  /// Text for people, with the time in UTC, and with colors if `isColored`.
  case pretty(isColored: Bool)

  func line(_ record: LogRecord) -> String {
    switch self {
    case .jsonLines: Self.json(record)
    case .logfmt: Self.logfmt(Self.fields(record, message: "msg"))
    case .pretty(let isColored): Self.pretty(record, isColored: isColored)
    }
  }

  /// The names of an entry's own fields. An attribute with one of these names gets an underscore in front.
  private static func fields(_ record: LogRecord, message: String) -> [(String, String)] {
    var fields = [
      ("time", timestamp(record.date)), ("level", record.level.label), (message, record.message),
    ]
    if let context = record.context {
      fields.append(("trace_id", context.traceID.description))
      fields.append(("span_id", context.spanID.description))
    }
    let own = Set(fields.map(\.0))
    for attribute in record.attributes {
      let key = own.contains(attribute.key) ? "_\(attribute.key)" : attribute.key
      fields.append((key, attribute.value.description))
    }
    return fields
  }

  // MARK: JSON

  private static func json(_ record: LogRecord) -> String {
    let fields = fields(record, message: "message").map { "\(quoted($0.0)):\(quoted($0.1))" }
    return "{\(fields.joined(separator: ","))}"
  }

  /// A JSON string. Characters that could end a line or control a terminal are escaped.
  static func quoted(_ text: String) -> String { JSONText.string(text, escaping: \.isControlling) }

  // MARK: logfmt

  static func logfmt(_ fields: [(String, String)]) -> String {
    fields.map { key, value in
      "\(logfmtKey(key))=\(isPlain(value) ? value : quoted(value))"
    }.joined(separator: " ")
  }

  private static func isPlain(_ value: String) -> Bool {
    !value.isEmpty
      && value.unicodeScalars.allSatisfy { !$0.isControlling && !" \"=\\".unicodeScalars.contains($0) }
  }

  private static func logfmtKey(_ key: String) -> String {
    let safe = key.unicodeScalars.map { $0.isControlling || " \"=\\".unicodeScalars.contains($0) ? "_" : $0 }
    return safe.isEmpty ? "_" : String(String.UnicodeScalarView(safe))
  }

  // MARK: For people

  private static func pretty(_ record: LogRecord, isColored: Bool) -> String {
    let color =
      switch record.level {
      case .trace, .debug: "\u{1b}[2m"
      case .info: "\u{1b}[32m"
      case .warning: "\u{1b}[33m"
      case .error: "\u{1b}[31m"
      }
    let time = timestamp(record.date).dropFirst(11).prefix(12)
    let label = record.level.label.padded(to: 5)
    let level = isColored ? "\(color)\(label)\u{1b}[0m" : label
    var line = "\(time) \(level) \(record.message.withControlsEscaped)"
    for attribute in record.attributes {
      line += "  \(logfmtKey(attribute.key))=\(attribute.value.description.withControlsEscaped)"
    }
    if let context = record.context { line += "  trace=\(context.traceID.description.prefix(8))" }
    return line
  }

  // MARK: Dates

  /// A date such as `2026-11-23T12:45:40.123456Z`.
  static func timestamp(_ nanoseconds: UInt64) -> String {
    let seconds = Int64(nanoseconds / 1_000_000_000)
    let (days, rest) = (seconds / 86400, Int(seconds % 86400))
    let date = CivilDate(daysSince1970: days)
    func digits(_ value: some BinaryInteger, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let micros = Int(nanoseconds % 1_000_000_000 / 1000)
    return "\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.day, 2))T"
      + "\(digits(rest / 3600, 2)):\(digits(rest / 60 % 60, 2)):\(digits(rest % 60, 2)).\(digits(micros, 6))Z"
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, count - self.count))
  }
}
