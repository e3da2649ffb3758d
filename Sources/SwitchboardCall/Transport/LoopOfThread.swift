public import CLoopThread

/// Which loop the calling thread runs, as the loop has told it.
@frozen
@usableFromInline package enum LoopOfThread {
  /// `nil` on a thread that runs none, or one that does not say so.
  @inlinable
  package static var address: UnsafeMutableRawPointer? { switchboard_current_loop() }

  /// Says which loop the calling thread runs from now on.
  @inlinable
  package static func set(_ address: UnsafeMutableRawPointer?) { switchboard_set_current_loop(address) }
}

extension EventLoop {
  /// Whether the caller's thread says that it runs this loop. Threads of the runtime's loops do; of others, the loop knows.
  @inlinable @inline(__always)
  var isOfThread: Bool { switchboard_current_loop() == Unmanaged.passUnretained(self).toOpaque() }

  /// `inEventLoop`, after a look at what the thread says.
  @inlinable @inline(__always)
  var isHere: Bool { isOfThread || inEventLoop }
}
