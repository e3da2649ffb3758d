import CLoopThread

/// The loop that the calling thread runs, as set by the loop.
@frozen
@usableFromInline package enum LoopOfThread {
  /// `nil` on other threads, and for loops that do not set it.
  @inlinable
  package static var address: UnsafeMutableRawPointer? { switchboard_current_loop() }

  /// Sets the loop that the calling thread runs.
  @inlinable
  package static func set(_ address: UnsafeMutableRawPointer?) { switchboard_set_current_loop(address) }
}

extension EventLoop {
  /// Whether the thread is marked as running this loop. The runtime's loops mark their threads; other loops may not.
  @inlinable @inline(__always)
  var isOfThread: Bool { switchboard_current_loop() == Unmanaged.passUnretained(self).toOpaque() }

  /// `inEventLoop`, after a check of the thread's mark.
  @inlinable @inline(__always)
  var isHere: Bool { isOfThread || inEventLoop }
}
