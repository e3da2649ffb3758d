/// What is done to a call before it is made, because operators want to see what follows: it is delayed, or it fails, or both.
package final class CallFault: Sendable {
  /// How long the call waits first.
  package let delay: Duration
  /// With which it ends then; `nil`: it is made.
  package let status: GRPCStatus?
  private let ended: Locked<(@Sendable () -> Void)?>

  /// `ended` is called once: when the call has had its fault, or has ended before.
  package init(delay: Duration, status: GRPCStatus?, ended: @escaping @Sendable () -> Void) {
    self.delay = delay
    self.status = status
    self.ended = Locked(ended)
  }

  deinit { end() }

  private func end() {
    let ended = ended.withLock { ended in
      defer { ended = nil }
      return ended
    }
    ended?()
  }

  /// Waits, and throws what the call ends with, if it does.
  func pass(_ time: any CallTime, on loop: any EventLoop) async throws(GRPCStatus) {
    defer { end() }
    if delay > .zero {
      do {
        try await time.sleep(until: time.now.advanced(by: delay), on: loop)
      } catch { throw .callEnded }
    }
    if let status { throw status }
  }
}
