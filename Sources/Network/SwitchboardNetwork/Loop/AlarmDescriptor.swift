import CLibuv

/// Wakes a loop at a given time with a precision of microseconds. libuv's timers count milliseconds, which is too
/// coarse for tens of thousands of calls per second.
///
/// It does not keep the loop alive; the loop closes it when it ends.
final class AlarmDescriptor {
  private let loop: Loop
  private let descriptor: Int32
  private let poll: PollHandle

  /// Calls `wentOff` on the loop each time the alarm goes off. `nil` on systems without such a descriptor, and if there
  /// are no more descriptors.
  init?(on loop: Loop, _ wentOff: @escaping () -> Void) {
    self.loop = loop
    descriptor = switchboard_alarm_open()
    guard descriptor >= 0 else { return nil }
    let descriptor = descriptor
    // Resets the descriptor, which would otherwise stay readable. The loop checks its timers itself.
    let quiet: (PollHandle.Events) -> Void = { _ in
      switchboard_alarm_set(descriptor, 0)
      wentOff()
    }
    guard let poll = try? PollHandle(descriptor, on: loop, quiet) else {
      switchboard_alarm_close(descriptor)
      return nil
    }
    self.poll = poll
    poll.watch(for: .readable)
    loop.openHandles -= 1
  }

  /// Sets the alarm to go off after some nanoseconds, replacing an earlier setting.
  func set(after nanoseconds: UInt64) {
    // Zero would disable the alarm.
    switchboard_alarm_set(descriptor, max(1, nanoseconds))
  }

  /// Closes the descriptor. Call it once.
  func close() {
    loop.openHandles += 1
    poll.close()
    switchboard_alarm_close(descriptor)
  }
}
