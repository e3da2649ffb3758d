/// How much a log entry matters.
@frozen
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  /// Steps within a call.
  case trace
  /// Connections and calls, one by one.
  case debug
  /// What an operator may want to see in ordinary times.
  case info
  /// Something that was not expected, and was dealt with.
  case warning
  /// Something that failed.
  case error

  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Where log entries go. Write one over whatever the process logs with.
public protocol LogHandler: Sendable {
  /// Called from any thread, often from an event loop: it must not block.
  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String])
}

/// What the library logs through. Quiet by default: without a handler nothing is even put into words.
public struct Logger: Sendable {
  private let handler: (any LogHandler)?
  /// Entries below this level are not made.
  public let minimumLevel: LogLevel
  /// Added to the metadata of every entry.
  private var context: [String: String]?

  /// Logs nothing.
  public static let quiet = Logger(nil, minimumLevel: .error)

  /// Logs what is at least of the minimum level.
  public init(_ handler: (any LogHandler)?, minimumLevel: LogLevel = .info) {
    self.handler = handler
    self.minimumLevel = minimumLevel
  }

  /// A logger that adds this to the metadata of every entry; what an entry says itself goes first.
  public func adding(_ context: [String: String]?) -> Logger {
    guard let context else { return self }
    var logger = self
    logger.context = context.merging(self.context ?? [:]) { added, _ in added }
    return logger
  }

  /// Logs, if anyone listens at this level.
  public func log(
    _ level: LogLevel,
    _ message: @autoclosure () -> String,
    _ metadata: @autoclosure () -> [String: String] = [:]
  ) {
    guard let handler, level >= minimumLevel else { return }
    guard let context else { return handler.log(level, message(), metadata()) }
    handler.log(level, message(), metadata().merging(context) { own, _ in own })
  }
}
