import SwitchboardCall
import SwitchboardNetwork

// MARK: - What takes too long

extension ServerCallStream {
  /// Limits the time for a request that must be complete before its handler starts.
  func limitRequest() {
    guard requestTimer == nil, let limit = connection.core.options.requestTimeout else { return }
    let timer = LoopTimer { self.requestDidNotCome() }
    requestTimer = timer
    loop.schedule(timer, after: limit)
  }

  private func requestDidNotCome() {
    requestTimer = nil
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
    guard let timeout = head.timeout, deadline == nil else { return }
    let length = Duration.nanoseconds(Int64(clamping: timeout.nanoseconds))
    deadline = loop.clock.deadline(after: length)
    let timer = LoopTimer { self.deadlinePassed() }
    self.timer = timer
    loop.schedule(timer, after: length)
  }

  /// How long the response may still take to be sent after the deadline.
  private static let timeForLastBytes = Duration.seconds(1)

  private func deadlinePassed() {
    let passed = deadlineStatus
    endUnsent(passed)
    let timer = LoopTimer { self.giveUp() }
    self.timer = timer
    loop.schedule(timer, after: Self.timeForLastBytes)
  }

  /// Ends the call early, even if its response is only waiting to be sent: the rest is dropped, so the response must not
  /// look complete.
  func endUnsent(_ status: GRPCStatus) {
    if phase == .ending, !state.hasLocalEnded { self.status = status }
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
    case .head, .receiving, .refusing, .closed: "while the server waited for the rest of the request"
    }
  }

  /// Gives up a response that the client has not read in time.
  func giveUp() {
    timer = nil
    endTracing(deadline == nil ? .responseNotRead : deadlineStatus)
    connection.withServerSession { $0.abandonResponse(id) }
    connection.setNeedsFlush()
  }

  /// Limits the time in which a client must have read a page, whose memory it holds until then.
  func limitReading() {
    guard let limit = connection.core.options.requestTimeout else { return }
    let timer = LoopTimer { self.giveUp() }
    self.timer = timer
    loop.schedule(timer, after: limit)
  }

  func stopLimitingRequest() {
    guard let requestTimer else { return }
    loop.cancel(requestTimer)
    self.requestTimer = nil
  }

  func cancelTimers() {
    stopLimitingRequest()
    guard let timer else { return }
    loop.cancel(timer)
    self.timer = nil
  }
}
