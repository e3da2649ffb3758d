// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Waits for one of some signals. Meanwhile the signals have no other effect; afterwards their previous handlers are
/// restored, except that what was ignored has its default effect once a signal has come.
package final class SignalWatcher {
  private let loop: Loop
  private var handles: [UnsafeMutablePointer<uv_signal_t>] = []
  private var received: (() -> Void)?

  /// Call on the loop, which also calls `received`, once.
  package init(_ signals: [Int32], on loop: Loop, _ received: @escaping () -> Void) {
    self.loop = loop
    self.received = received
    handles = signals.compactMap(watch)
  }

  /// `nil` if the system does not allow watching this signal, or the loop has ended; the signal then keeps its handler.
  private func watch(_ number: Int32) -> UnsafeMutablePointer<uv_signal_t>? {
    guard !loop.hasEnded else { return nil }
    let handle = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
    guard uv_signal_init(loop.uv, handle) == 0 else {
      handle.deallocate()
      return nil
    }
    loop.openHandles += 1
    handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let result = SignalHandlers.watch(number) {
      uv_signal_start(
        handle,
        { handle, _ in
          guard let data = handle?.pointee.data else { return }
          Unmanaged<SignalWatcher>.fromOpaque(data).takeUnretainedValue().finish(hasCome: true)
        },
        number
      )
    }
    guard result == 0 else {
      close(handle)
      return nil
    }
    return handle
  }

  /// Stops waiting; calls `received` unless that has happened.
  package func finish() { finish(hasCome: false) }

  private func finish(hasCome: Bool) {
    guard let received else { return }
    self.received = nil
    for handle in handles {
      SignalHandlers.unwatch(handle.pointee.signum, hasCome: hasCome) { close(handle) }
    }
    handles = []
    received()
  }

  private func close(_ handle: UnsafeMutablePointer<uv_signal_t>) {
    uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      guard let handle, let data = handle.pointee.data else { return }
      Unmanaged<SignalWatcher>.fromOpaque(data).takeRetainedValue().loop.openHandles -= 1
      handle.deallocate()
    }
  }
}
