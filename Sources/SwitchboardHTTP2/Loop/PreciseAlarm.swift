import CLibuv
import SwitchboardCall

/// An alarm that goes off on a loop to the microsecond where the system can: libuv's timers count milliseconds, which
/// calls at tens of thousands each second cannot wait for.
package final class PreciseAlarm: @unchecked Sendable {
  // Sendable because everything is touched only on the loop.

  /// What it does when it goes off, once for each time it is set.
  @exclusivity(unchecked) package var action: () -> Void = {}
  private let loop: (any EventLoop)
  private let descriptor: Int32
  @exclusivity(unchecked) private var poll: PollHandle?
  /// Instead of the descriptor, on systems that have none.
  @exclusivity(unchecked) private var timer: LoopTimer?

  /// An alarm that is not set. Until it is closed, the loop does not end.
  package init(on loop: any EventLoop) {
    self.loop = loop
    descriptor = switchboard_alarm_open()
    guard let loop = loop as? Loop else { return }
    if descriptor >= 0 {
      poll = try? PollHandle(descriptor, on: loop) { [weak self] _ in self?.goOff() }
      poll?.watch(for: .readable)
    }
    if poll == nil { timer = LoopTimer { [weak self] in self?.action() } }
  }

  deinit { if descriptor >= 0 { switchboard_alarm_close(descriptor) } }

  /// Sets it, in place of what it was set to, to go off after some nanoseconds.
  package func set(after nanoseconds: UInt64) {
    if poll != nil {
      // Zero would switch it off.
      switchboard_alarm_set(descriptor, max(1, nanoseconds))
    } else if let timer, let loop = loop as? Loop {
      loop.schedule(timer, after: .nanoseconds(Int64(clamping: nanoseconds)))
    }
  }

  /// It does not go off again.
  package func close() {
    poll?.close()
    poll = nil
    if let timer, let loop = loop as? Loop { loop.cancel(timer) }
    timer = nil
    action = {}
  }

  private func goOff() {
    // Otherwise the descriptor stays readable.
    switchboard_alarm_set(descriptor, 0)
    action()
  }
}
