/// The importance of a log entry.
@frozen
public enum LogLevel: Sendable, Comparable, CaseIterable {
  /// Steps within a call.
  case trace
  /// Individual connections and calls.
  case debug
  /// What an operator may want to see in normal operation.
  case info
  /// Something unexpected that was handled.
  case warning
  /// A failure.
  case error
}

/// Receives log entries. Implement it with the process's logging library.
///
/// ```swift
/// struct PrintingHandler: LogHandler {
///   func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
///     print(level, message, metadata)
///   }
/// }
/// let logger = Logger(PrintingHandler(), minimumLevel: .debug)
/// ```
public protocol LogHandler: Sendable {
  /// Receives an entry. Called from any thread, often from an event loop, so it must not block.
  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String])
}

/// A logger of the library. Without a handler, it is silent and builds no messages.
public struct Logger: Sendable {
  package let handler: (any LogHandler)?
  /// Entries below this level are dropped.
  let minimumLevel: LogLevel
  /// Added to the metadata of every entry.
  private var context: [String: String]?

  /// A logger that logs nothing.
  public static let quiet = Logger(nil, minimumLevel: .error)

  /// Creates a logger that passes entries of at least the minimum level to the handler.
  public init(_ handler: (any LogHandler)?, minimumLevel: LogLevel = .info) {
    self.handler = handler
    self.minimumLevel = minimumLevel
  }

  /// A copy that adds this metadata to every entry; an entry's own values take precedence.
  package func adding(_ context: [String: String]?) -> Logger {
    guard let context else { return self }
    var logger = self
    logger.context = context.merging(self.context ?? [:]) { added, _ in added }
    return logger
  }

  /// Whether it logs entries of this level.
  package func logs(_ level: LogLevel) -> Bool { handler != nil && level >= minimumLevel }

  /// Logs an entry, unless its level is too low.
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
