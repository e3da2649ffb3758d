import SwitchboardCall

/// An action that a loop takes at a time, to the microsecond where the system can, for modules that know no timers.
package final class PreciseAlarm: @unchecked Sendable {
  // Sendable because everything is touched only on the loop.

  /// What it does when it goes off, once for each time it is set.
  @exclusivity(unchecked) package var action: () -> Void = {}
  private let loop: Loop?
  @exclusivity(unchecked) private var timer: LoopTimer?

  /// An alarm that is not set. Until it is closed, the loop does not end.
  package init(on loop: any EventLoop) {
    self.loop = loop as? Loop
    self.loop?.openHandles += 1
    timer = LoopTimer(isPrecise: true) { [weak self] in self?.action() }
  }

  /// Sets it, in place of what it was set to, to go off after some nanoseconds.
  package func set(after nanoseconds: UInt64) {
    guard let timer else { return }
    loop?.schedule(timer, after: .nanoseconds(Int64(clamping: nanoseconds)))
  }

  /// It does not go off again.
  package func close() {
    guard let timer else { return }
    self.timer = nil
    loop?.cancel(timer)
    loop?.openHandles -= 1
    action = {}
  }
}
