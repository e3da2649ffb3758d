import SwitchboardCall
import SwitchboardNetwork

/// What a server logs because its clients cause it, which they can do as often as they like.
final class ServerLog: Sendable {
  private let logger: Logger
  private let sendsErrorDescriptions: Bool
  /// Connections that ended before their clients spoke a protocol of the server.
  let failedConnections: LimitedLog
  /// Calls that are refused, because too many handlers run on.
  let refusedCalls: LimitedLog
  /// Calls that end with their connections, because these have reached their age.
  let agedConnections: LimitedLog
  /// What handlers set and the protocol sets itself.
  let leftOut: LeftOutFields
  /// Listeners that accept no connections, because descriptors or memory are scarce.
  let exhaustion: LimitedLog
  private let failedCalls: LimitedLogsOfMethods
  private let passedOnFailures: LimitedLogsOfMethods
  private let heldCalls: LimitedLogsOfMethods
  private let lateActions: LimitedLogsOfMethods
  private let ignoredEnds: LimitedLogsOfMethods
  private let doubtfulLoads: LimitedLogsOfMethods

  init(_ options: ServerOptions) {
    logger = options.logger
    leftOut = LeftOutFields(options.logger)
    sendsErrorDescriptions = options.sendsErrorDescriptions
    failedCalls = LimitedLogsOfMethods(logger, .error, "a call failed by a fault in the server")
    passedOnFailures = LimitedLogsOfMethods(
      logger,
      .warning,
      "a call failed because a call that its handler made did"
    )
    heldCalls = LimitedLogsOfMethods(
      logger,
      .warning,
      "a call ended while an interceptor held it, which passed on neither the request nor an answer"
    )
    lateActions = LimitedLogsOfMethods(
      logger,
      .warning,
      "a handler, or a task that has outlived it, did something too late, without effect"
    )
    ignoredEnds = LimitedLogsOfMethods(
      logger,
      .warning,
      "a handler goes on after its call has ended, and lets the errors of its streams pass"
    )
    doubtfulLoads = LimitedLogsOfMethods(
      logger,
      .warning,
      "a handler, or a LoadRecorder, reports a load that is hardly meant"
    )
    failedConnections = LimitedLog(logger, .warning, "connection closed")
    refusedCalls = LimitedLog(
      logger,
      .error,
      "calls are refused, because too many handlers do not return after their calls have ended"
    )
    agedConnections = LimitedLog(
      logger,
      .warning,
      "calls were cut off with their connection, which had reached maxConnectionAge: they had not ended by the end of "
        + "connectionAgeGrace"
    )
    exhaustion = LimitedLog(logger, .error, "cannot accept connections for now")
  }

  /// Writes what waits for the end of a second, once the server has ended: the process may end before.
  func writeRest() {
    for log in [failedConnections, refusedCalls, agedConnections, exhaustion] { log.writeRest() }
    for logs in [failedCalls, passedOnFailures, heldCalls, lateActions, ignoredEnds, doubtfulLoads] {
      logs.writeRest()
    }
  }

  /// What clients learn of an error that a handler or an interceptor has thrown. One that determines no status is logged,
  /// with these details of the call. The status of a call that has ended already is of no use.
  func status(
    of error: any Error,
    hasEnded: Bool,
    _ call: @autoclosure () -> Details,
    on loop: Loop
  ) -> GRPCStatus {
    if error is CancellationError, !hasEnded {
      log("CancellationError, although the call was not cancelled", call(), on: loop)
      return .cancelledByHandler
    }
    let determined = GRPCStatus.determined(by: error)
    if let status = determined, !status.isMisuse {
      // One with a cause describes an error of the program's own.
      let hasCause = status.cause != nil && status.configMistake == nil
      let isOfChannel = status.isOfChannel || status.origin == .library || hasCause
      return isOfChannel && !hasEnded ? passedOn(status, call(), on: loop) : status
    }
    let description = "\(determined ?? error)"
    log(description, call(), on: loop)
    return sendsErrorDescriptions ? GRPCStatus(code: .unknown, message: description) : .unknownError
  }

  /// A channel of this process made the status, for another call. It may name servers that clients must not know, so they
  /// get only its code.
  private func passedOn(_ status: GRPCStatus, _ call: Details, on loop: Loop) -> GRPCStatus {
    guard !sendsErrorDescriptions else { return status }
    passedOnFailures.log("\(status)", call, on: loop)
    return GRPCStatus(code: status.code, message: "a call that the server made has failed; its log says why")
  }

  /// The same for metadata that the handler or an interceptor has set, and that HTTP does not allow.
  func status(ofUnsendable failure: GRPCStatus, _ call: @autoclosure () -> Details, on loop: Loop)
    -> GRPCStatus
  {
    log(failure.message ?? "", call(), on: loop)
    return sendsErrorDescriptions ? failure : .unsendableMetadata
  }

  /// Logs that such metadata is larger than the client accepts, which learns that too.
  func report(oversized failure: GRPCStatus, _ call: @autoclosure () -> Details, on loop: Loop) {
    log(failure.message ?? "", call(), on: loop)
  }

  /// The same for an error of encoding a response.
  func status(ofEncoding error: any Error, _ call: @autoclosure () -> Details, on loop: Loop) -> GRPCStatus {
    let known = GRPCStatus.determined(by: error)
    let status = GRPCStatus.marshalling(known ?? error, "encoded")
    guard known == nil else { return status }
    log(status.message ?? "", call(), on: loop)
    return sendsErrorDescriptions ? status : .unencodableResponse
  }

  /// Logs that one of these interceptors had the call when it ended.
  func report(held end: GRPCStatus, by interceptors: [AnyObject], _ call: Details, on loop: Loop) {
    let names = interceptors.map { "\(type(of: $0))" }.joined(separator: ", ")
    let others = call.others.merging(["interceptors": names]) { $1 }
    heldCalls.log("\(end)", (call.path, others), on: loop)
  }

  /// Logs that one of these interceptors has made the call fail.
  func report(fault status: GRPCStatus, of interceptors: [AnyObject], _ call: Details, on loop: Loop) {
    let names = interceptors.map { "\(type(of: $0))" }.joined(separator: ", ")
    let others = call.others.merging(names.isEmpty ? [:] : ["interceptors": names]) { $1 }
    log(
      "\(status) (an interceptor left out a part of the call, or sent it twice or too late)",
      (call.path, others),
      on: loop
    )
  }

  /// Logs that a handler goes on, so long after its call has ended, and that as many uses of its streams have failed.
  func report(ignoredEnd age: Duration, uses: Int, of path: String, on loop: Loop) {
    let advice =
      "sending or reading threw \(uses) times: write try in place of try?, or leave the loop once context.isCancelled or "
      + "Task.isCancelled is true"
    ignoredEnds.log(advice, (path, ["after": age.readable]), on: loop)
  }

  func report(_ late: LateAction, _ call: Details, on loop: Loop) {
    lateActions.log(late.advice, call, on: loop)
  }

  /// Logs why a report of load with a call is hardly meant.
  func report(load doubt: String, _ call: Details, on loop: Loop) {
    doubtfulLoads.log(doubt, call, on: loop)
  }

  /// The details of a call: the path of its method, which the server has, and others.
  typealias Details = (path: String, others: LimitedLog.Details)

  private func log(_ error: String, _ call: Details, on loop: Loop) {
    failedCalls.log(error, call, on: loop)
  }
}

/// Log entries about calls. Each method has its own limit: clients that make one fail on purpose do not hide the failures of
/// another.
private final class LimitedLogsOfMethods: Sendable {
  private let make: @Sendable () -> LimitedLog
  private let logs = Locked<[[UInt8]: LimitedLog]>([:])

  init(_ logger: Logger, _ level: LogLevel, _ message: String) {
    make = { LimitedLog(logger, level, message) }
  }

  func log(_ error: String, _ call: ServerLog.Details, on loop: Loop) {
    let details = call.others.merging(["error": error, "method": call.path]) { $1 }
    log(of: call.path).log(details, on: loop)
  }

  func writeRest() { for log in logs.withLock({ Array($0.values) }) { log.writeRest() } }

  private func log(of path: String) -> LimitedLog {
    logs.withLock { logs in
      let key = Array(path.utf8)
      if let log = logs[key] { return log }
      let log = make()
      logs[key] = log
      return log
    }
  }
}

extension LateAction {
  fileprivate var advice: String {
    switch self {
    case .initialMetadata: Self.beforeResponses("setInitialMetadata")
    case .compression: Self.beforeResponses("setCompression")
    case .trailers: "setTrailers was called after the call had ended: call it before the handler returns"
    case .sent:
      "a message was sent after the handler had returned: let the handler await the task that sends it"
    case .read:
      "requests were read after the handler had returned: let the handler await the task that reads them"
    }
  }

  private static func beforeResponses(_ name: String) -> String {
    "\(name) was called after the metadata had been sent: call it before the first response, and before "
      + "sendInitialMetadata"
  }
}

extension GRPCStatus {
  /// The handler's or an interceptor's error may say what clients must not know.
  fileprivate static let cancelledByHandler = GRPCStatus(
    code: .cancelled,
    message: "the handler gave up, although the call was not cancelled"
  )
  fileprivate static let unknownError = GRPCStatus(
    code: .unknown,
    message: "the call failed in the server, whose log says why"
  )
  fileprivate static let unsendableMetadata = GRPCStatus(
    code: .internalError,
    message: "the server's metadata for the call cannot be sent, and its log says why"
  )
  fileprivate static let unencodableResponse = GRPCStatus(
    code: .internalError,
    message: "a message could not be encoded in the server, whose log says why"
  )
}
