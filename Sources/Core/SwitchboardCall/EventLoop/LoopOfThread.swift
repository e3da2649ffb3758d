// unsafe: an address that is compared, and read by the loop that left it there

import CLoopThread

/// The loop that runs on the calling thread, as set by the loop itself.
@frozen
@usableFromInline package enum LoopOfThread {
  /// `nil` on other threads, and for loops that do not set it. Not by a function in C, because the compiler inlines none
  /// into the methods of interceptors.
  @inlinable @inline(__always)
  package static var address: UnsafeMutableRawPointer? { switchboard_loop_of_thread }

  /// Sets the loop that the calling thread runs.
  @inlinable
  package static func set(_ address: UnsafeMutableRawPointer?) { switchboard_loop_of_thread = address }
}

extension EventLoop {
  /// The address by which the loop's thread identifies itself, if it does.
  @inlinable @inline(__always)
  var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}
