import SwitchboardCall

/// What a server logs because its clients cause it, which they can do as often as they like.
final class ServerLog: Sendable {
  private let logger: Logger
  private let sendsErrorDescriptions: Bool
  /// Connections that ended before their clients spoke a protocol of the server.
  let failedConnections: LimitedLog
  /// Calls that are refused, because too many handlers run on.
  let refusedCalls: LimitedLog
  /// Listeners that accept no connections, because descriptors or memory are scarce.
  let exhaustion: LimitedLog
  /// Each method has its own: clients that make one fail on purpose do not hide the failures of another.
  private let failedCalls = Locked<[[UInt8]: LimitedLog]>([:])

  init(_ options: ServerOptions) {
    logger = options.logger
    sendsErrorDescriptions = options.sendsErrorDescriptions
    failedConnections = LimitedLog(logger, .warning, "connection closed")
    refusedCalls = LimitedLog(
      logger,
      .error,
      "calls are refused, because too many handlers do not return after their calls have ended"
    )
    exhaustion = LimitedLog(logger, .error, "cannot accept connections for now")
  }

  /// What clients learn of an error that a handler or an interceptor has thrown. One that determines no status is logged,
  /// with these details of the call.
  func status(of error: any Error, _ call: @autoclosure () -> Details, on loop: Loop) -> GRPCStatus {
    if let status = GRPCStatus.determined(by: error) { return status }
    log("\(error)", call(), on: loop)
    return sendsErrorDescriptions ? GRPCStatus(describing: error) : .unknownError
  }

  /// The same for an error of encoding a response.
  func status(ofEncoding error: any Error, _ call: @autoclosure () -> Details, on loop: Loop) -> GRPCStatus {
    let known = GRPCStatus.determined(by: error)
    let status = GRPCStatus.marshalling(known ?? error, "encoded")
    guard known == nil else { return status }
    log(status.message ?? "", call(), on: loop)
    return sendsErrorDescriptions ? status : .unencodableResponse
  }

  /// The details of a call: the path of its method, which the server has, and others.
  typealias Details = (path: String, others: LimitedLog.Details)

  private func log(_ error: String, _ call: Details, on loop: Loop) {
    let details = call.others.merging(["error": error, "method": call.path]) { $1 }
    failedCalls(of: call.path).log(details, on: loop)
  }

  private func failedCalls(of path: String) -> LimitedLog {
    failedCalls.withLock { logs in
      let key = Array(path.utf8)
      if let log = logs[key] { return log }
      let log = LimitedLog(logger, .error, "a call failed with an error that has no status")
      logs[key] = log
      return log
    }
  }
}

extension GRPCStatus {
  /// The handler's or an interceptor's error may say what clients must not know.
  fileprivate static let unknownError = GRPCStatus(
    code: .unknown,
    message: "the call failed in the server, whose log says why"
  )
  fileprivate static let unencodableResponse = GRPCStatus(
    code: .internalError,
    message: "a message could not be encoded in the server, whose log says why"
  )
}
