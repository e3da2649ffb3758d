import SwitchboardCall
import SwitchboardNetwork

// MARK: - What takes too long

extension ServerCallStream {
  /// Limits the time for a request that must be complete before its handler starts.
  func limitRequest() {
    guard !timers.limitsRequest, let limit = connection.core.options.requestTimeout else { return }
    timers.limitRequest(LoopTimer { self.requestDidNotCome() }, to: limit, on: loop)
  }

  private func requestDidNotCome() {
    timers.requestIsLate()
    if request.waitsForReader || isHeldBack {
      connection.report(.unreadResponses)
      return end(nil, .responsesNotRead)
    }
    connection.report(.slowRequest)
    if phase == .refusing, let rejection = head.rejection {
      refuse(rejection, isLate: true)
    } else if head.page != nil {
      reject("408", "the request did not arrive in time")
    } else {
      end(nil, .requestTooSlow)
    }
  }

  /// Starts the deadline when the headers have arrived, even if the request is incomplete.
  func startDeadline() {
    guard let timeout = head.terms.timeout, deadline == nil else { return }
    let length = Duration.nanoseconds(Int64(clamping: timeout.nanoseconds))
    deadline = loop.clock.deadline(after: length)
    timers.limitCall(LoopTimer { self.deadlinePassed() }, to: length, on: loop)
  }

  /// How long the response may still take to be sent after the deadline.
  private static let timeForLastBytes = Duration.seconds(1)

  private func deadlinePassed() {
    let passed = deadlineStatus
    endUnsent(passed)
    timers.limitCall(LoopTimer { self.giveUp() }, to: Self.timeForLastBytes, on: loop)
  }

  /// Ends the call early, even if its response is only waiting to be sent: the rest is dropped, so the response must not
  /// look complete.
  func endUnsent(_ status: GRPCStatus) {
    if phase == .ending, !state.hasLocalEnded { response.status = status }
    endEarly(status)
  }

  /// What the client learns that does not notice first.
  var deadlineStatus: GRPCStatus {
    deadline?.exceeded(by: loop.clock, "of the client", whatTheServerDid) ?? .requestExpired
  }

  private var whatTheServerDid: String {
    switch phase {
    case .handling where isHeld: "while an interceptor of the server held the call"
    case .handling where flow != nil && !state.hasRemoteEnded:
      "while the server's handler ran (the requests were not finished either)"
    case .handling: "while the server's handler ran"
    case .ending: "while the server's response waited for the client to read"
    case .receiving where request.waitsForReader:
      "while the call waited for the client to read the responses of others"
    case .head, .receiving, .refusing, .closed: "while the server waited for the rest of the request"
    }
  }

  /// Gives up a response that the client has not read in time.
  func giveUp() {
    timers.callIsLate()
    endTracing(deadline == nil ? .responseNotRead : deadlineStatus)
    connection.withServerSession { $0.abandonResponse(id) }
    connection.setNeedsFlush()
  }

  /// Limits the time in which a client must have read a page, whose memory it holds until then.
  func limitReading() {
    guard let limit = connection.core.options.requestTimeout else { return }
    timers.limitCall(LoopTimer { self.giveUp() }, to: limit, on: loop)
  }

  func stopLimitingRequest() { timers.stopLimitingRequest(on: loop) }
}
