// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

/// Watches a descriptor that other code owns, on the loop. It must be closed before the descriptor is.
final class PollHandle {
  struct Events: OptionSet {
    let rawValue: UInt32
    static let readable = Events(rawValue: UV_READABLE.rawValue)
    static let writable = Events(rawValue: UV_WRITABLE.rawValue)
  }

  private let loop: Loop
  private var poll: UnsafeMutablePointer<uv_poll_t>?
  /// Released by `close`, so it may retain the owner.
  private var action: ((Events) -> Void)?
  private var watched: Events = []

  /// Watches for nothing yet. Until it is closed, the loop does not end.
  init(_ descriptor: Int32, on loop: Loop, _ action: @escaping (Events) -> Void) throws(SocketError) {
    self.loop = loop
    self.action = action
    let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    let result = uv_poll_init(loop.uv, poll, descriptor)
    guard result == 0 else {
      poll.deallocate()
      throw SocketError(result)
    }
    loop.openHandles += 1
    self.poll = poll
    // Released when libuv has closed the handle.
    poll.pointee.data = Unmanaged.passRetained(self).toOpaque()
  }

  /// Watches for these events from now on. An error of the descriptor is reported as both events.
  func watch(for events: Events) {
    guard let poll else { return }
    watched = events
    guard !events.isEmpty else {
      uv_poll_stop(poll)
      return
    }
    uv_poll_start(poll, Int32(events.rawValue)) { poll, status, events in
      guard let data = poll?.pointee.data else { return }
      let handle = Unmanaged<PollHandle>.fromOpaque(data).takeUnretainedValue()
      handle.loop.eventDidCome()
      if status == 0 { handle.action?(Events(rawValue: UInt32(events))) } else { handle.reportError() }
    }
  }

  /// libuv has stopped watching. The owner learns of the error when it reads or writes.
  private func reportError() {
    action?([.readable, .writable])
    watch(for: watched)
  }

  /// The action is not called again.
  func close() {
    guard let poll else { return }
    self.poll = nil
    action = nil
    uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      guard let handle, let data = handle.pointee.data else { return }
      Unmanaged<PollHandle>.fromOpaque(data).takeRetainedValue().loop.openHandles -= 1
      handle.deallocate()
    }
  }
}
