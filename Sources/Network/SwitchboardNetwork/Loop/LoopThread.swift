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
}
