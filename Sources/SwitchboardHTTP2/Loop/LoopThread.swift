import CLibuv
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Which loop the current thread belongs to.
enum LoopThread {
  static var current: Loop? {
    LoopOfThread.address.map { Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue() }
  }

  @inline(__always)
  static func isCurrent(_ loop: Loop) -> Bool {
    LoopOfThread.address == Unmanaged.passUnretained(loop).toOpaque()
  }

  static func enter(_ loop: Loop) {
    LoopOfThread.set(Unmanaged.passUnretained(loop).toOpaque())
    // A peer that is gone must be an error of one write, not the end of the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  static func leave() {
    LoopOfThread.set(nil)
  }

  /// Starts a thread that runs the loop and keeps it alive for as long as it runs. `false` when the
  /// system has no thread to give.
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
    // Nobody waits for it: it ends when nothing is open on its loop any more.
    pthread_detach(thread)
    return true
  }
}
