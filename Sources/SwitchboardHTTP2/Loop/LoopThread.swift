import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Which loop the current thread belongs to.
///
/// A libuv key rather than `pthread_self()`: the optimizer takes that for a constant and keeps it across
/// suspension points, after which a task may be on another thread.
enum LoopThread {
  // A key is written once, here, and only read afterwards.
  nonisolated(unsafe) static let key: UnsafeMutablePointer<uv_key_t> = {
    let key = UnsafeMutablePointer<uv_key_t>.allocate(capacity: 1)
    uv_key_create(key)
    return key
  }()

  static var current: Loop? {
    uv_key_get(key).map { Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue() }
  }

  static func isCurrent(_ loop: Loop) -> Bool {
    uv_key_get(loop.threadKey) == Unmanaged.passUnretained(loop).toOpaque()
  }

  static func enter(_ loop: Loop) {
    uv_key_set(key, Unmanaged.passUnretained(loop).toOpaque())
    // A peer that is gone must be an error of one write, not the end of the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  static func leave() {
    uv_key_set(key, nil)
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
