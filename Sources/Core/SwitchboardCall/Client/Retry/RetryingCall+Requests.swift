// Streamed requests are read from the caller as fast as the fastest attempt sends them, and kept for the others.
extension RetryingCall: MessagePipe.Observer {
  func pipeBecameReadable(_ pipe: MessagePipe) {
    onLoop { $0.pumpAll() }
  }

  func pipe(_ pipe: MessagePipe, wasRead byteCount: Int, leaving room: MessagePipe.Room) {}

  /// Never called: it observes the requests, which are not decoded here.
  func doElsewhere(_ work: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void) {
    work()
    finish()
  }

  private func pumpAll() {
    for attempt in attempts { pump(attempt) }
  }

  /// Sends an attempt as many requests as it has room for.
  func pump(_ attempt: Attempt) {
    guard phase == .running, let pipe = attempt.requests, !attempt.isOver, !attempt.requestsEnded,
      !attempt.waitsForRoom
    else { return }
    let known = log.end
    while phase == .running, !attempt.isOver {
      if attempt.cursor == log.end, log.isComplete {
        attempt.requestsEnded = true
        pipe.finish()
        break
      }
      guard pipe.hasRoom else {
        waitForRoom(attempt, pipe)
        break
      }
      if attempt.cursor == log.end { guard readRequest(for: attempt) else { break } }
      guard let message = log[attempt.cursor] else { continue }
      attempt.cursor += 1
      if committed === attempt { log.drop(before: attempt.cursor) }
      pipe.push(message)
    }
    if log.end > known {
      for other in attempts where other !== attempt { pump(other) }
    }
  }

  /// Reads one request, or the end, from the caller. Returns `false` if neither is available, or if the call failed.
  private func readRequest(for attempt: Attempt) -> Bool {
    guard case .stream(let pipe) = request.body else { return false }
    switch pipe.pop() {
    case .empty:
      return false
    case .end:
      log.isComplete = true
      return true
    case .failed(let status):
      // No attempt may treat the requests so far as complete.
      finish(status, HPACKHeaders())
      return false
    case .message(let message):
      if let limit = plan.requestSizeLimit, message.byteCount > limit {
        finish(.requestTooLarge(message.byteCount, limit: limit), HPACKHeaders())
        return false
      }
      log.append(message)
      // This attempt is furthest ahead: it has sent all earlier requests.
      if committed == nil, log.heldByteCount > plan.bufferLimit {
        excess = log.heldByteCount
        commit(attempt)
      }
      return true
    }
  }

  private func waitForRoom(_ attempt: Attempt, _ pipe: MessagePipe) {
    attempt.waitsForRoom = true
    Task(executorPreference: loop) {
      let isOpen = (try? await pipe.waitUntilWritable()) != nil
      attempt.waitsForRoom = false
      if isOpen { self.pump(attempt) }
    }
  }
}
