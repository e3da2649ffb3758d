import SwitchboardCall

/// The model of a server's call, for any client and any handler.
///
/// ```
///   client   headers ──> messages in any pieces ──> half closed
///               └─────────────────┴──broken──┴──reset, violation, connection lost──> gone
///
///   handler  waiting ──the request may be served──> running ──> returned
///                                                      └──gone, broken, late──> cancelled ──> returned
///
///   wire     nothing ──headers──> messages ──trailers──> over
///               └──trailers only──────┴──reset────────────^
/// ```
/// The three are modeled separately because none waits for another. Invariants: the handler starts once, and sees only
/// the metadata of the first block; it reads what the client sent, in order, and then the end; the client reads what
/// the handler wrote, in order, and one end; and the end of one ends the other.
struct ServerCallModel {
  let stream: UInt32
  let token: Int
  let type: GRPCCallType
  /// Whether the first block makes it a call that a handler may receive.
  let isValid: Bool
  let hasDeadline: Bool
  /// Messages may be compressed.
  let hasEncoding: Bool

  // The actions of the client.
  var requests = MessageSender()
  var isHalfClosed = false
  var isGone = false
  var isLate = false

  // The observations and actions of the handler.
  private(set) var hasStarted = false
  var hasReturned = false
  var isNotified = false
  private var readCount = 0
  private var readsAreOver = false
  private(set) var written: [[UInt8]] = []
  private(set) var chosenEnd: GRPCStatus.Code?
  /// An interceptor has ended the call.
  var isAnswered = false

  // The frames on the wire.
  private var responses = MessageReceiver()
  private(set) var hasHeaders = false
  private(set) var isOver = false
  private var isReset = false

  init(
    stream: UInt32,
    token: Int,
    type: GRPCCallType,
    isValid: Bool,
    hasDeadline: Bool,
    hasEncoding: Bool
  ) {
    self.stream = stream
    self.token = token
    self.type = type
    self.isValid = isValid
    self.hasDeadline = hasDeadline
    self.hasEncoding = hasEncoding
  }

  /// The code that interceptors end calls with.
  static let answerCode = GRPCStatus.Code.permissionDenied

  var streamsRequests: Bool { type == .clientStreaming || type == .bidirectionalStreaming }
  var streamsResponses: Bool { type == .serverStreaming || type == .bidirectionalStreaming }

  /// The request can never be served.
  private var isBroken: Bool {
    requests.isBroken || isHalfClosed && requests.isInside || !streamsRequests && requests.whole.count > 1
  }

  // MARK: The handler

  mutating func start(_ headers: HPACKHeaders, hasDeadline: Bool) throws(Violation) {
    try Violation.unless(!hasStarted, "a handler starts twice")
    try Violation.unless(isValid, "a handler starts for a request that is none")
    try Violation.unless(headers["x-token"] == ["\(token)"], "a handler sees the token \(headers["x-token"])")
    try Violation.unless(headers["x-late"].isEmpty, "a handler sees metadata of trailers")
    try Violation.unless(hasDeadline == self.hasDeadline, "a handler sees another deadline")
    if !streamsRequests {
      try Violation.unless(
        isHalfClosed && requests.whole.count == 1 && !isBroken,
        "a handler starts with \(requests.whole.count) requests, of which it takes one"
      )
    }
    hasStarted = true
  }

  mutating func read(_ message: [UInt8]) throws(Violation) {
    try Violation.unless(!readsAreOver, "a request comes behind the end")
    try Violation.unless(readCount < requests.whole.count, "a request comes that nobody sent")
    try Violation.unless(
      message == requests.whole[readCount],
      "request \(readCount) is another than was sent"
    )
    readCount += 1
  }

  mutating func readEnd() throws(Violation) {
    readsAreOver = true
    if streamsRequests {
      try Violation.unless(isHalfClosed, "requests end that the client has not ended")
      try Violation.unless(!isBroken, "requests end well that are broken")
      try Violation.unless(readCount == requests.whole.count, "requests end before the last")
    }
  }

  /// Reading may fail once there is a reason.
  mutating func readFailed() throws(Violation) {
    readsAreOver = true
    let hasReason = isBroken || isGone || isLate || isAnswered || chosenEnd != nil
    try Violation.unless(hasReason, "reading fails for no reason")
  }

  mutating func write(_ message: [UInt8]) { written.append(message) }

  mutating func finish(_ code: GRPCStatus.Code) { if chosenEnd == nil { chosenEnd = code } }

  // MARK: The wire

  mutating func sent(_ frame: Frame, fields: [String: String]) throws(Violation) {
    switch frame.kind {
    case .headers: try sentHeaders(fields, ends: frame.endsStream)
    case .data:
      try Violation.unless(hasHeaders && !isOver, "data are sent where none may be")
      try sentData(frame.payload)
      if frame.endsStream { throw Violation("a stream ends without trailers") }
    case .reset:
      try Violation.unless(!isReset, "a stream is reset twice")
      isReset = true
      // After the complete response, the rest of a request does not matter.
      let isPolite = isOver && frame.errorCode == 0
      let isCause = isGone || isLate && frame.errorCode == 8
      try Violation.unless(isPolite || isCause, "a stream is reset with \(frame.errorCode) for no reason")
      isOver = true
    case .windowUpdate: break
    default: throw Violation("\(frame.kind) is sent on a stream")
    }
  }

  private mutating func sentHeaders(_ fields: [String: String], ends: Bool) throws(Violation) {
    try Violation.unless(!isOver, "headers are sent behind the end")
    if !ends {
      try Violation.unless(!hasHeaders, "headers are sent twice")
      try Violation.unless(fields[":status"] == "200", "headers have the status \(fields[":status"] ?? "")")
      hasHeaders = true
      return
    }
    try Violation.unless((fields[":status"] == nil) == hasHeaders, "trailers are headers, or the reverse")
    isOver = true
    guard let text = fields["grpc-status"], let number = Int(text),
      let code = GRPCStatus.Code(rawValue: number)
    else { throw Violation("trailers have no status") }
    try checkEnd(code)
  }

  private mutating func sentData(_ bytes: [UInt8]) throws(Violation) {
    var next = responses.count
    for message in try responses.take(bytes) {
      try Violation.unless(next < written.count, "a response is sent that nobody wrote")
      try Violation.unless(message == written[next], "response \(next) is another than was written")
      next += 1
    }
  }

  private func checkEnd(_ code: GRPCStatus.Code) throws(Violation) {
    try Violation.unless(!responses.isInside, "trailers come inside a message")
    if code == .ok {
      try Violation.unless(chosenEnd == .ok, "a call is reported as successful")
      try Violation.unless(responses.count == written.count, "a call ends well without all its responses")
      return
    }
    let isHandlers = code == chosenEnd
    let isLibrarys =
      isLate && code == .deadlineExceeded
      || isBroken && [.internalError, .resourceExhausted, .unimplemented].contains(code)
      || !isValid && [.internalError, .resourceExhausted, .unimplemented].contains(code)
      || !streamsRequests && isHalfClosed && requests.whole.count != 1 && code == .unimplemented
    let isInterceptors = isAnswered && code == Self.answerCode
    try Violation.unless(
      isHandlers || isLibrarys || isInterceptors,
      "a call ends with \(code), for no reason"
    )
  }

  // MARK: Final checks

  /// A client that has its response or is gone waits for nothing: its handler must be notified. If an interceptor has
  /// answered, only handlers that read are notified.
  func checkRest() throws(Violation) {
    guard hasStarted, isOver || isGone, !isAnswered else { return }
    try Violation.unless(
      hasReturned || isNotified || chosenEnd != nil,
      "the handler of call \(stream) is not notified of its end"
    )
  }
}
