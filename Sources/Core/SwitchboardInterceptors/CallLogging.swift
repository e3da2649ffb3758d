public import SwitchboardCall

/// Logs calls on either side: one entry at the start of a call and one at its end.
///
/// Entries have the path, the side, the status, the duration and the number of messages in each direction. Metadata can
/// contain secrets, so only the listed fields are logged; messages are never logged.
///
/// ```swift
/// var logging = CallLogging()
/// logging.loggedMetadata = ["tenant"]
/// var options = ServerOptions()
/// options.interceptorFactories = [logging]
/// ```
public struct CallLogging: InterceptorFactory {
  /// The logger; `nil` means that of the call's options, or else of the channel, or of the server.
  public var logger: Logger?
  /// The level of the entry at the start of a call.
  public var startLevel = LogLevel.debug
  /// The level of the entry at the end of a successful call.
  public var endLevel = LogLevel.info
  /// The level of the entry at the end of a failed call.
  public var failureLevel = LogLevel.warning
  /// The fields of the call's metadata that may be logged.
  public var loggedMetadata: [String] = []
  private let time: MonotonicTime

  /// Logs to `logger`; if it is nil, to that of the call's options, or else of the channel or the server. `now` is for tests.
  public init(logger: Logger? = nil, now: (@Sendable () -> Duration)? = nil) {
    self.logger = logger
    time = MonotonicTime(now)
  }

  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [ClientEventInterceptor(Entry(self, "client"))] }

  public func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [ServerEventInterceptor(Entry(self, "server"))] }
}

extension CallLogging {
  /// The data of a call in progress.
  fileprivate struct Entry: CallEventHandler {
    private let logging: CallLogging
    private let side: String
    private var begun = Duration.zero
    private var requests = 0
    private var responses = 0

    init(_ logging: CallLogging, _ side: String) {
      self.logging = logging
      self.side = side
    }

    mutating func handle(_ event: CallEvent, _ path: String, _ own: @autoclosure () -> Logger) {
      switch event {
      case .started(let metadata): start(path, metadata, own())
      case .request: requests += 1
      case .response: responses += 1
      case .ended(let status): end(path, status, own())
      }
    }

    private mutating func start(_ path: String, _ metadata: HPACKHeaders, _ own: Logger) {
      begun = logging.time.now()
      requests = 0
      responses = 0
      (logging.logger ?? own).log(
        logging.startLevel,
        "call started",
        fields(path).merging(logging.allowed(metadata)) { own, _ in own }
      )
    }

    private func end(_ path: String, _ status: GRPCStatus, _ own: Logger) {
      (logging.logger ?? own).log(
        status.isOk ? logging.endLevel : logging.failureLevel,
        status.isOk ? "call succeeded" : "call failed",
        ending(path, status)
      )
    }

    private func fields(_ path: String) -> [String: String] { ["path": path, "side": side] }

    private func ending(_ path: String, _ status: GRPCStatus) -> [String: String] {
      var fields = fields(path)
      fields["status"] = "\(status)"
      fields["duration"] = "\(logging.time.now() - begun)"
      fields["requests"] = "\(requests)"
      fields["responses"] = "\(responses)"
      return fields
    }
  }

  fileprivate func allowed(_ metadata: HPACKHeaders) -> [String: String] {
    var fields: [String: String] = [:]
    for name in loggedMetadata where metadata.contains(name: name) {
      fields[name] = metadata[name].joined(separator: ", ")
    }
    return fields
  }
}
