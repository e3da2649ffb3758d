import SwitchboardText
import Synchronization

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

extension LogLevel {
  /// Grows with the importance.
  fileprivate var rank: UInt8 {
    switch self {
    case .trace: 0
    case .debug: 1
    case .info: 2
    case .warning: 3
    case .error: 4
    }
  }
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
  /// Where entries go, from a level on which all copies of the logger share.
  private let sink: Sink
  /// Added to the metadata of every entry.
  private var context: [String: String]?

  /// A logger that logs nothing.
  public static let quiet = Logger(nil, minimumLevel: .error)

  /// Creates a logger that passes entries of at least the minimum level to the handler.
  public init(_ handler: (any LogHandler)?, minimumLevel: LogLevel = .info) {
    sink = Sink(handler, minimumLevel)
  }

  private init(_ sink: Sink, _ context: [String: String]?) {
    self.sink = sink
    self.context = context
  }

  package var handler: (any LogHandler)? { sink.handler }

  /// Entries below this level are dropped.
  package var minimumLevel: LogLevel { sink.level }

  /// The same log with a level of its own, which may change while the logger is in use.
  package var withOwnLevel: Logger {
    var logger = Logger(handler, minimumLevel: minimumLevel)
    logger.context = context
    return logger
  }

  /// Drops entries below another level from now on. That holds for all copies of the logger.
  package func setLevel(_ level: LogLevel) { sink.set(level) }

  /// A copy that adds this metadata to every entry; an entry's own values take precedence.
  package func adding(_ context: [String: String]?) -> Logger {
    guard let context else { return self }
    var logger = self
    logger.context = context.merging(self.context ?? [:]) { added, _ in added }
    return logger
  }

  /// The log of the calls of one method, whose level may be another one.
  package func ofMethod(_ path: String) -> Logger {
    guard let sink = sink.ofMethod(path) else { return self }
    return Logger(sink, context)
  }

  /// Drops entries of one method's calls below another level from now on, or again below the level of all. That holds for all
  /// copies of the logger. Returns `false` if too many methods have levels of their own.
  package func setLevel(_ level: LogLevel?, ofMethod path: String) -> Bool {
    sink.set(level, ofMethod: path)
  }

  /// The methods that have levels of their own.
  package var methodLevels: [(path: String, level: LogLevel)] { sink.methodLevels }

  /// The most methods that may have levels of their own.
  package static let mostMethodLevels = 100

  /// Whether it logs entries of this level.
  package func logs(_ level: LogLevel) -> Bool { sink.taker(of: level) != nil }

  /// Logs an entry, unless its level is too low.
  public func log(
    _ level: LogLevel,
    _ message: @autoclosure () -> String,
    _ metadata: @autoclosure () -> [String: String] = [:]
  ) {
    guard let handler = sink.taker(of: level) else { return }
    guard let context else { return handler.log(level, message(), metadata()) }
    handler.log(level, message(), metadata().merging(context) { own, _ in own })
  }
}

extension Logger {
  /// A handler, and the level that entries need to reach it.
  private final class Sink: Sendable {
    let handler: (any LogHandler)?
    private let least: Atomic<UInt8>
    /// Whether there are logs of methods: most calls pay for a look at this.
    private let hasMethods = Atomic(false)
    private let methods = Locked<[ExactText: Sink]>([:])

    init(_ handler: (any LogHandler)?, _ level: LogLevel) {
      self.handler = handler
      least = Atomic(level.rank)
    }

    var level: LogLevel {
      let rank = least.load(ordering: .relaxed)
      return LogLevel.allCases.first { $0.rank == rank } ?? .error
    }

    func set(_ level: LogLevel) { least.store(level.rank, ordering: .relaxed) }

    /// The handler, if entries of this level reach it.
    func taker(of level: LogLevel) -> (any LogHandler)? {
      level.rank >= least.load(ordering: .relaxed) ? handler : nil
    }

    /// What a method's calls log to. `nil` if its level is that of all.
    func ofMethod(_ path: String) -> Sink? {
      guard hasMethods.load(ordering: .relaxed) else { return nil }
      return methods.withLock { $0[path] }
    }

    func set(_ level: LogLevel?, ofMethod path: String) -> Bool {
      methods.withLock { methods in
        defer { hasMethods.store(!methods.isEmpty, ordering: .relaxed) }
        guard let level else {
          methods[path] = nil
          return true
        }
        guard methods[path] != nil || methods.count < Logger.mostMethodLevels else { return false }
        if let known = methods[path] { known.set(level) } else { methods[path] = Sink(handler, level) }
        return true
      }
    }

    var methodLevels: [(path: String, level: LogLevel)] {
      methods.withLock { $0.map { ($0.key.text, $0.value.level) } }
    }
  }
}

extension Logger {
  @available(*, unavailable, message: "write log(.info, \"…\")")
  public func info(_ message: String) {}
}
