// Empty unless the environment asks for it. The tests compile this file over a stand-in with the package's signatures.
#if SwiftLog
  public import SwitchboardCall

  #if BridgeStandIns
    public import BridgeStandIns

    public typealias SwiftLogger = BridgeStandIns.Logger
    public typealias SwiftLogBackend = BridgeStandIns.LogHandler
    public typealias SwiftLogEvent = BridgeStandIns.LogEvent
  #else
    public import Logging

    /// The logger of swift-log.
    public typealias SwiftLogger = Logging.Logger
    /// The handler of swift-log.
    public typealias SwiftLogBackend = Logging.LogHandler
    /// An entry of swift-log.
    public typealias SwiftLogEvent = Logging.LogEvent
  #endif

  /// Passes what this library logs to a logger of swift-log.
  ///
  /// ```swift
  /// serverOptions.logger = Logger(SwiftLogOutput(Logging.Logger(label: "grpc")), minimumLevel: .debug)
  /// ```
  public struct SwiftLogOutput: SwitchboardCall.LogHandler {
    private let logger: SwiftLogger

    /// Passes entries to `logger`, which decides by its own level too.
    public init(_ logger: SwiftLogger) {
      self.logger = logger
    }

    public func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      logger.log(
        level: SwiftLogger.Level(level),
        "\(message)",
        metadata: metadata.mapValues { .string($0) },
        source: "Switchboard"
      )
    }
  }

  /// Passes what swift-log's loggers write to a handler of this library, such as a `TelemetryLog`, which ties it to traces.
  ///
  /// ```swift
  /// LoggingSystem.bootstrap { SwiftLogInput($0, into: TelemetryLog(telemetry)) }
  /// ```
  public struct SwiftLogInput: SwiftLogBackend {
    public var logLevel: SwiftLogger.Level
    public var metadata: SwiftLogger.Metadata = [:]
    public var metadataProvider: SwiftLogger.MetadataProvider?
    private let label: String
    private let target: any SwitchboardCall.LogHandler

    /// Entries have the label as `logger`.
    public init(
      _ label: String,
      into target: any SwitchboardCall.LogHandler,
      level: SwiftLogger.Level = .info
    ) {
      self.label = label
      self.target = target
      logLevel = level
    }

    public subscript(metadataKey key: String) -> SwiftLogger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    /// An error of the entry is shown as `error`, unless its metadata has that name.
    public func log(event: SwiftLogEvent) {
      var all = metadata
      if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
      if let own = event.metadata { all.merge(own) { _, new in new } }
      var shown = all.mapValues { "\($0)" }
      if let error = event.error, shown["error"] == nil { shown["error"] = "\(error)" }
      shown["logger"] = label
      target.log(LogLevel(event.level), event.message.description, shown)
    }
  }

  extension SwiftLogger.Level {
    init(_ level: LogLevel) {
      switch level {
      case .trace: self = .trace
      case .debug: self = .debug
      case .info: self = .info
      case .warning: self = .warning
      case .error: self = .error
      }
    }
  }

  extension LogLevel {
    init(_ level: SwiftLogger.Level) {
      switch level {
      case .trace: self = .trace
      case .debug: self = .debug
      case .info, .notice: self = .info
      case .warning: self = .warning
      case .error, .critical: self = .error
      }
    }
  }
#endif
