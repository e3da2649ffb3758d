// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The thread of a loop.
enum LoopThread {
  static var current: Loop? {
    LoopOfThread.address.map { Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue() }
  }

  static func enter(_ loop: Loop) {
    LoopOfThread.set(Unmanaged.passUnretained(loop).toOpaque())
    // A write to a closed connection must fail, and not end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  static func leave() {
    LoopOfThread.set(nil)
  }

  /// Starts a thread that runs the loop and retains it meanwhile. Returns `false` if the system cannot start a thread.
  static func start(_ loop: Loop) -> Bool {
    var thread = uv_thread_t()
    let argument = Unmanaged.passRetained(loop)
    let result = uv_thread_create(
      &thread,
      { argument in
        guard let argument else { return }
        Unmanaged<Loop>.fromOpaque(argument).takeRetainedValue().run()
      },
      argument.toOpaque()
    )
    guard result == 0 else {
      argument.release()
      return false
    }
    // No thread joins it: it ends when nothing is open on its loop.
    pthread_detach(thread)
    return true
  }
}
