import CLibuv

/// Wakes a loop at a time, to the microsecond: libuv's timers count milliseconds, which calls at tens of thousands each
/// second cannot wait for.
///
/// It does not keep the loop from ending, which closes it then.
final class AlarmDescriptor {
  private let loop: Loop
  private let descriptor: Int32
  private let poll: PollHandle

  /// `nil` on systems without such a descriptor, and if there are no more descriptors.
  init?(on loop: Loop) {
    self.loop = loop
    descriptor = switchboard_alarm_open()
    guard descriptor >= 0 else { return nil }
    let descriptor = descriptor
    // Otherwise the descriptor stays readable. The loop looks at its timers by itself.
    let quiet: (PollHandle.Events) -> Void = { _ in switchboard_alarm_set(descriptor, 0) }
    guard let poll = try? PollHandle(descriptor, on: loop, quiet) else {
      switchboard_alarm_close(descriptor)
      return nil
    }
    self.poll = poll
    poll.watch(for: .readable)
    loop.openHandles -= 1
  }

  /// Sets it, in place of what it was set to, to go off after some nanoseconds.
  func set(after nanoseconds: UInt64) {
    // Zero would switch it off.
    switchboard_alarm_set(descriptor, max(1, nanoseconds))
  }

  /// Call it once, when it is no longer needed.
  func close() {
    loop.openHandles += 1
    poll.close()
    switchboard_alarm_close(descriptor)
  }
}
