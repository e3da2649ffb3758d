import SwitchboardCall
import Synchronization

// MARK: - Called by the caller, on any thread

extension ClientCallStream: ByteCall, MessagePipe.Observer {
  func cancel(_ status: GRPCStatus) {
    cancellation.withLock { if $0 == nil { $0 = status } }
    if channel.loop.inEventLoop { endEarly(status) } else { signal(.cancel) }
  }

  func poll(until isReady: () -> Bool) { channel.poll(until: isReady) }

  func pipeBecameReadable(_ pipe: MessagePipe) {
    // The pipe of responses is attached here too, but only the caller reads it.
    guard case .stream(let requests) = request.body, requests === pipe else { return }
    if channel.loop.inEventLoop { resumeBody() } else { signal(.readable) }
  }

  func pipe(_ pipe: MessagePipe, wasRead byteCount: Int, leaving room: MessagePipe.Room) {
    guard let flow, flow.pipe === pipe else { return }
    loop.countRead(byteCount)
    guard flow.owesCredit(room) else { return }
    // If data is held, it would fill the pipe again at once. The signal lets the reader run in between.
    if loop.inEventLoop, !flow.isHolding, !flow.isInflated { giveCredit() } else { signal(.credit) }
  }

  func doElsewhere(_ work: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void) {
    loop.execute {
      _ = self.largeMessages.run {
        work()
      } then: { _ in
        finish()
      }
    }
  }

  func signal(_ signal: StreamSignals) {
    if signals.set(signal) { channel.loop.run(.task(self)) }
  }
}

// MARK: - On the loop

extension ClientCallStream {
  /// Calls code of the caller, or interceptors, while others can see whose work this is.
  @inline(__always)
  func working(_ work: () -> Void) {
    let before = loop.activity.begin(trace.mark)
    work()
    loop.activity.begin(before)
  }

  func handleSignals() {
    let taken = signals.takeSignals()
    if taken.contains(.start) { start() }
    if taken.contains(.readable) { resumeBody() }
    if taken.contains(.credit) { roomWasMade() }
    if taken.contains(.cancel), let status = cancellation.withLock({ $0 }) { endEarly(status) }
  }

  /// Returns unread bytes, which are no longer needed, to the connection's window.
  func forgetUnread() {
    guard let flow, let connection, !connection.isClosed else { return }
    connection.forget(flow.takeWithheld())
  }

  private func resumeBody() {
    guard isOpen, let connection, !connection.isClosed else { return }
    connection.withSession { $0.resume(id) }
    connection.setNeedsFlush()
  }
}

extension GRPCStatus {
  static let tooManyWaitingCalls = GRPCStatus(
    code: .resourceExhausted,
    message: "too many calls wait for a connection",
    origin: .library
  )
}
