// The end of an attempt, and its effect on the call.
extension RetryingCall {
  func attempt(_ attempt: Attempt, received headers: HPACKHeaders) {
    take(attempt)
    if receiver.wantsMetadata { receiver.receive(headers: headers) }
  }

  func attempt(_ attempt: Attempt, received message: RawSpan) {
    take(attempt)
    receiver.receive(message: message)
  }

  /// The attempt's response was decoded on another thread.
  func attempt(_ attempt: Attempt, received receive: () -> Void) {
    take(attempt)
    receive()
  }

  func attempt(_ attempt: Attempt, sent part: SentPart, _ count: Int) { report(part, count) }

  private func take(_ attempt: Attempt) {
    excess = nil
    commit(attempt)
    if let responses = attempt.responses { forward(responses) }
  }

  func attempt(_ attempt: Attempt, ended status: GRPCStatus, _ trailers: HPACKHeaders) {
    guard phase == .running else { return }
    attempts.removeAll { $0 === attempt }
    let isOurs = status.origin == .user
    let isWorthAnother = !isOurs && schedule.codes.contains(status.code)
    let pushback = isOurs ? .none : Pushback(trailers)
    if status.isOk {
      plan.throttle?.recordSuccess()
    } else if isWorthAnother || pushback == .never {
      plan.throttle?.recordFailure()
    }
    guard committed == nil, !status.isOk, isWorthAnother else {
      if isWorthAnother, let excess {
        engine.remarks.report(unrepeated: request.method, status, excess: excess, of: plan.bufferLimit)
      } else if isWorthAnother, committed === attempt, !request.method.type.streamsResponses,
        schedule.allowsAnother(after: attemptsMade)
      {
        engine.remarks.report(answered: request.method, status)
      }
      return end(attempt, status, trailers)
    }
    if pushback == .never, let mistake = Pushback.mistake(in: trailers) {
      engine.remarks.report(pushback: mistake, of: request.method)
    }
    lastFailure = (status, trailers)
    switch schedule.mode {
    case .single: end(attempt, status, trailers)
    case .retrying: retry(pushback)
    case .hedging: hedgeAgain(pushback)
    }
  }

  /// Ends the call with the status of the attempt. If this object forwards the responses, they are read first.
  private func end(_ attempt: Attempt, _ status: GRPCStatus, _ trailers: HPACKHeaders) {
    lastFailure = (status, trailers)
    commit(attempt)
    if let responses = attempt.responses, isForwarding {
      responses.finish()
    } else {
      finish(status, trailers)
    }
  }

  private func retry(_ pushback: Pushback) {
    guard schedule.allowsAnother(after: attemptsMade), plan.throttle?.allowsRepetition ?? true else {
      return finishIfNothingIsLeft()
    }
    switch pushback {
    case .never:
      finishIfNothingIsLeft()
    case .after(let delay):
      schedule.backoff?.reset()
      wake(after: delay)
    case .none:
      wake(after: schedule.backoff?.next(environment.random()) ?? .zero)
    }
  }

  /// One of several attempts has failed; the others may still succeed.
  private func hedgeAgain(_ pushback: Pushback) {
    if pushback == .never { schedule.stop() }
    let continues = schedule.allowsAnother(after: attemptsMade) && (plan.throttle?.allowsRepetition ?? true)
    guard continues else {
      stopWaking()
      return finishIfNothingIsLeft()
    }
    if case .after(let delay) = pushback {
      wake(after: delay)
    } else {
      // Not at once, because the transport may still be ending another attempt.
      wake(after: .zero)
    }
  }
}

/// Decides when a call makes another attempt.
struct AttemptSchedule {
  enum Mode {
    case single
    case retrying
    case hedging(Duration)
  }

  let mode: Mode
  /// The codes with which an attempt may fail without ending the call.
  let codes: Set<GRPCStatus.Code>
  private(set) var maxAttempts: Int
  var backoff: RetryBackoff?

  init(_ repetition: MethodConfig.Repetition?) {
    switch repetition {
    case nil:
      mode = .single
      codes = []
      maxAttempts = 1
    case .retry(let policy):
      mode = .retrying
      codes = policy.retryableStatusCodes
      maxAttempts = policy.attempts
      backoff = RetryBackoff(policy)
    case .hedge(let policy):
      mode = .hedging(policy.hedgingDelay)
      codes = policy.nonFatalStatusCodes
      maxAttempts = policy.attempts
    }
  }

  var isHedging: Bool { if case .hedging = mode { true } else { false } }

  mutating func stop() { maxAttempts = 1 }

  func allowsAnother(after attemptsMade: Int) -> Bool { attemptsMade < maxAttempts }
}
