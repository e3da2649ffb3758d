// unsafe: libuv: a thread, which owns what it runs

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A thread that nobody joins.
package enum DetachedThread {
  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts a thread that runs this, and ends with it. Returns `false` if the system cannot start a thread.
  package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
    var thread = uv_thread_t()
    let work = Unmanaged.passRetained(Work(run))
    let result = uv_thread_create(
      &thread,
      { argument in
        guard let argument else { return }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
      },
      work.toOpaque()
    )
    guard result == 0 else {
      work.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
