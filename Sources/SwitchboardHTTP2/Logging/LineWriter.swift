import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A queue of lines for a descriptor, and the thread that writes them.
package final class LineWriter: @unchecked Sendable {
  // Sendable because mutable state is touched only with the mutex held, and the descriptor only by the thread.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// -1 if the descriptor was invalid: then all lines are dropped.
  private let descriptor: Int32
  private let capacity: Int
  private var waiting: [UInt8] = []
  private var hasThread = false
  private var isWriting = false
  private var isClosed = false
  private var dropped = 0
  /// The number of dropped lines that the log has not reported.
  private var unreportedLosses = 0
  /// The number of dropped lines in the notice that is being written.
  private var reportedLosses = 0
  /// Called once there are no lines left to write.
  private var waiters: [@Sendable () -> Void] = []

  package init(_ descriptor: Int32, capacity: Int) {
    // A duplicate, because the original number may be reused for another file, such as a client's connection.
    self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    self.capacity = capacity
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  package var droppedCount: Int { withLock { dropped } }

  /// Returns when there are no lines left to write, or when `limit` has passed by `time`.
  package func flush(within limit: Duration, _ time: any CallTime = SystemTime()) async {
    let end = OneShot<Void>()
    let isIdle = withLock {
      let isIdle = waiting.isEmpty && !isWriting
      if !isIdle { waiters.append { end.settle(.success(())) } }
      return isIdle
    }
    if isIdle { return }
    let alarm = Task {
      try? await time.sleep(until: time.now.advanced(by: limit))
      end.settle(.success(()))
    }
    // Even if the task is cancelled: that is when a process ends.
    await withCheckedContinuation { continuation in
      end.whenSettled { _ in continuation.resume() }
    }
    alarm.cancel()
  }

  /// Adds a line, without its end, or drops it.
  package func write(_ line: String) {
    let bytes = line.utf8
    withLock {
      guard descriptor >= 0, !isClosed, waiting.count + bytes.count < capacity, startThread() else {
        return drop(1)
      }
      waiting += bytes
      waiting.append(UInt8(ascii: "\n"))
      pthread_cond_signal(condition)
    }
  }

  /// Accepts no more lines; the thread ends once it has written the rest.
  package func close() {
    withLock {
      isClosed = true
      pthread_cond_signal(condition)
    }
  }

  private func drop(_ count: Int) {
    dropped += count
    unreportedLosses += count
  }

  // MARK: The thread

  /// Called with the mutex held, at the first line. Returns `false` if the system cannot start a thread.
  private func startThread() -> Bool {
    if hasThread { return true }
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread,
      nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<LineWriter>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      },
      argument.toOpaque()
    )
    guard result == 0 else {
      argument.release()
      return false
    }
    pthread_detach(thread)
    hasThread = true
    return true
  }

  private func run() {
    // A write to a closed pipe must fail, and not end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while let lines = next() {
      let rest = writeAll(lines)
      let notified = withLock {
        isWriting = false
        if !rest.isEmpty {
          let count = rest.count { $0 == UInt8(ascii: "\n") }
          // The notice is the last line but not an entry; its count must be reported again.
          drop(reportedLosses > 0 ? count - 1 : count)
          unreportedLosses += reportedLosses
        }
        var notified: [@Sendable () -> Void] = []
        if waiting.isEmpty { swap(&notified, &waiters) }
        return notified
      }
      for waiter in notified { waiter() }
    }
  }

  /// The lines to write next; `nil` at the end.
  private func next() -> [UInt8]? {
    withLock {
      while waiting.isEmpty {
        if isClosed { return nil }
        pthread_cond_wait(condition, mutex)
      }
      var lines: [UInt8] = []
      swap(&lines, &waiting)
      if unreportedLosses > 0 { lines += "\(unreportedLosses) log entries were dropped before this\n".utf8 }
      reportedLosses = unreportedLosses
      unreportedLosses = 0
      isWriting = true
      return lines
    }
  }

  /// Returns the part that could not be written.
  private func writeAll(_ lines: [UInt8]) -> ArraySlice<UInt8> {
    var rest = lines[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Other code may have set the descriptor to non-blocking.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      } else if errno != EINTR {
        break
      }
    }
    return rest
  }
}
