import SwitchboardCall

/// The model of a client's call, for any server and any caller.
///
/// ```
///   caller   writes messages ──finishes──> waits
///               └──────────────┴──cancels, or the deadline passes──> given up
///
///   server   nothing ──informational headers──> nothing ──headers──> messages in any pieces ──trailers──> over
///               └──trailers only──┴──reset, broken, good-bye, connection lost────────────────────────────^
///
///   caller sees      nothing ──headers──> messages ──end──> over
/// ```
/// Invariants: nothing answers the call before it was sent; the caller receives headers at most once, and never informational ones; messages in the server's order;
/// and one end, which is successful only if the server ended the call successfully and everything it sent was received.
/// The server receives the caller's messages in order, and the end only after the caller has finished.
struct ClientCallModel {
  let token: Int
  let type: GRPCCallType
  let hasDeadline: Bool
  /// The stream that it was last sent on, if any.
  var stream: UInt32?

  // The actions of the caller.
  var written: [[UInt8]] = []
  var hasFinished = false
  var isCancelled = false
  var isLate = false
  /// An interceptor has ended the call.
  var isAnswered = false

  /// The code that interceptors end calls with.
  static let answerCode = GRPCStatus.Code.permissionDenied

  // The actions of the server.
  var responses = MessageSender()
  var answer: Answer?
  /// Messages may be compressed.
  var hasEncoding = false
  /// The status in its last block, once it was sent with END_STREAM.
  var end: GRPCStatus.Code?
  var isHalfClosed = false
  var isGone = false
  var refusals = 0

  enum Answer { case good, bad }

  // The events at the caller.
  private(set) var hasHeaders = false
  private(set) var readCount = 0
  private(set) var reportedEnd: GRPCStatus?

  // The frames on the wire.
  private var wasSent = false
  private var requests = MessageReceiver()
  private var isEnded = false
  private var isReset = false
  /// It was reset before its server had ended it.
  private var isCut = false

  init(token: Int, type: GRPCCallType, hasDeadline: Bool) {
    self.token = token
    self.type = type
    self.hasDeadline = hasDeadline
  }

  var streamsRequests: Bool { type == .clientStreaming || type == .bidirectionalStreaming }
  var streamsResponses: Bool { type == .serverStreaming || type == .bidirectionalStreaming }
  var isOver: Bool { reportedEnd != nil }

  /// Its response can never be a success.
  var isBroken: Bool {
    responses.isBroken || isHalfClosed && responses.isInside || !streamsResponses && responses.whole.count > 1
      || answer == .bad
  }

  // MARK: The caller

  mutating func receive(_ headers: HPACKHeaders) throws(Violation) {
    try Violation.unless(!isOver, "headers received after the end")
    try Violation.unless(!hasHeaders, "headers received twice")
    try Violation.unless(readCount == 0, "headers received after a message")
    try checkOrder()
    try Violation.unless(answer != nil, "headers come that nobody sent")
    try Violation.unless(
      headers["x-answer"] == ["\(token)"],
      "headers are those of another block: \(headers)"
    )
    hasHeaders = true
  }

  mutating func receive(_ message: [UInt8]) throws(Violation) {
    // Streamed messages are in a pipe, from which they may be read after the end.
    try Violation.unless(streamsResponses || !isOver, "a message comes behind the end")
    try Violation.unless(streamsResponses || readCount == 0, "a single response received twice")
    try checkOrder()
    try Violation.unless(readCount < responses.whole.count, "a response comes that nobody sent")
    try Violation.unless(
      message == responses.whole[readCount],
      "response \(readCount) is another than was sent"
    )
    readCount += 1
  }

  mutating func close(_ status: GRPCStatus) throws(Violation) {
    try Violation.unless(!isOver, "a call ends twice")
    reportedEnd = status
    if status.isOk {
      try checkOrder()
      try Violation.unless(end == .ok && !isBroken && !isCut, "a call is reported as successful")
      return
    }
    let isServers = end == status.code
    let isCallers = isCancelled && status.code == .cancelled || isLate && status.code == .deadlineExceeded
    let isInterceptors = isAnswered && status.code == Self.answerCode
    let isIncomplete =
      !streamsResponses && end == .ok && responses.whole.isEmpty && status.code == .unimplemented
    let hasReason =
      isServers || isCallers || isInterceptors || isIncomplete || isGone || isBroken || refusals > 0
      || isHalfClosed && end == nil
    try Violation.unless(hasReason, "a call ends with \(status), for no reason")
  }

  /// What is reported as answered must have been written first.
  private func checkOrder() throws(Violation) {
    try Violation.unless(wasSent, "a call is answered that was not sent")
  }

  // MARK: The wire

  mutating func opened(_ stream: UInt32) throws(Violation) {
    try Violation.unless(self.stream == nil || refusals > 0 || isGone, "a call is sent twice")
    try Violation.unless(answer == nil, "a call is sent again that was answered")
    self.stream = stream
    wasSent = true
    requests = MessageReceiver()
    isEnded = false
    isReset = false
    isCut = false
  }

  mutating func sent(_ frame: Frame) throws(Violation) {
    switch frame.kind {
    case .data:
      try Violation.unless(!isEnded && !isReset, "data are sent behind the end")
      var next = requests.count
      for message in try requests.take(frame.payload) {
        try Violation.unless(next < written.count, "a request is sent that nobody wrote")
        try Violation.unless(message == written[next], "request \(next) is another than was written")
        next += 1
      }
      guard frame.endsStream else { return }
      isEnded = true
      let isWhole = !requests.isInside && requests.count == written.count && hasFinished
      try Violation.unless(isWhole, "a request ends before its last message")
    case .headers: throw Violation("headers are sent behind the first")
    case .reset:
      try Violation.unless(!isReset, "a stream is reset twice")
      isReset = true
      if !isHalfClosed { isCut = true }
      let hasReason = isCancelled || isLate || isAnswered || isGone || isBroken || isHalfClosed || isOver
      try Violation.unless(hasReason, "a stream is reset with \(frame.errorCode) for no reason")
    default: break
    }
  }

  // MARK: Final checks

  func checkEnd() throws(Violation) {
    try Violation.unless(isOver, "a call has no end")
    guard let reportedEnd, reportedEnd.isOk else { return }
    try Violation.unless(readCount == responses.whole.count, "a call ends well without all its responses")
  }
}
