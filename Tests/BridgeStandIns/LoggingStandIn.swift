// The signatures of swift-log that the bridge uses, because the tests do not fetch that package.

public protocol LogHandler: Sendable {
  var metadataProvider: Logger.MetadataProvider? { get set }
  func log(event: LogEvent)
  subscript(metadataKey _: String) -> Logger.Metadata.Value? { get set }
  var metadata: Logger.Metadata { get set }
  var logLevel: Logger.Level { get set }
}

public struct LogEvent: Sendable {
  public var level: Logger.Level
  public var message: Logger.Message
  public var error: (any Error)?
  public var metadata: Logger.Metadata?
  public var source: String
  public var file: String
  public var function: String
  public var line: UInt
}

public struct Logger: Sendable {
  public enum Level: String, Codable, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  public struct Message: ExpressibleByStringLiteral, Equatable, CustomStringConvertible,
    ExpressibleByStringInterpolation,
    Sendable
  {
    public typealias StringLiteralType = String
    private let value: String
    public init(stringLiteral value: String) { self.value = value }
    public var description: String { value }
  }

  public typealias Metadata = [String: MetadataValue]

  public enum MetadataValue: Sendable, CustomStringConvertible {
    case string(String)
    case stringConvertible(any CustomStringConvertible & Sendable)
    case dictionary(Metadata)
    case array([Metadata.Value])

    public var description: String {
      switch self {
      case .string(let text): text
      case .stringConvertible(let value): value.description
      case .dictionary(let values): values.description
      case .array(let values): values.map(\.description).description
      }
    }
  }

  public struct MetadataProvider: Sendable {
    private let provide: @Sendable () -> Metadata
    public init(_ provideMetadata: @escaping @Sendable () -> Metadata) { provide = provideMetadata }
    public func get() -> Metadata { provide() }
  }

  public var handler: any LogHandler
  public let label: String

  public init(label: String, factory: (String) -> any LogHandler) {
    self.label = label
    handler = factory(label)
  }

  public func log(
    level: Level,
    _ message: @autoclosure () -> Message,
    error: (any Error)? = nil,
    metadata: @autoclosure () -> Metadata? = nil,
    source: @autoclosure () -> String? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
  ) {
    handler.log(
      event: LogEvent(
        level: level,
        message: message(),
        error: error,
        metadata: metadata(),
        source: source() ?? "",
        file: file,
        function: function,
        line: line
      )
    )
  }
}
