// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

/// An action on a loop at a given time, with a precision of microseconds if the system supports it. It is for modules
/// that have no access to `LoopTimer`.
package final class PreciseAlarm: @unchecked Sendable {
  // Sendable because everything is touched only on the loop.

  /// The action. It runs once each time the alarm is set.
  @exclusivity(unchecked) package var action: () -> Void = {}
  private let loop: Loop?
  @exclusivity(unchecked) private var timer: LoopTimer?

  /// Creates an alarm that is not set. The loop does not end until the alarm is closed.
  package init(on loop: any EventLoop) {
    self.loop = loop as? Loop
    self.loop?.openHandles += 1
    timer = LoopTimer(isPrecise: true) { [weak self] in self?.action() }
  }

  /// Sets the alarm to go off after some nanoseconds, replacing an earlier setting.
  package func set(after nanoseconds: UInt64) {
    guard let timer else { return }
    loop?.schedule(timer, after: .nanoseconds(Int64(clamping: nanoseconds)))
  }

  /// Closes the alarm. It does not go off again.
  package func close() {
    guard let timer else { return }
    self.timer = nil
    loop?.cancel(timer)
    loop?.openHandles -= 1
    action = {}
  }
}
