import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Lines on their way to a descriptor, and the thread that writes them.
final class LineWriter: @unchecked Sendable {
  // Sendable holds because what changes is touched with the mutex held, and the descriptor by the thread alone.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// -1 where there was none to begin with: then everything is dropped.
  private let descriptor: Int32
  private let capacity: Int
  private var waiting: [UInt8] = []
  private var hasThread = false
  private var isWriting = false
  private var isClosed = false
  private var dropped = 0
  /// Of those, how many the log does not say yet.
  private var untold = 0
  /// How many of them the notice speaks of that is being written.
  private var beingTold = 0

  init(_ descriptor: Int32, capacity: Int) {
    // Its own: the number may come to stand for something else, such as a client's connection.
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

  var droppedCount: Int { withLock { dropped } }

  /// Nothing waits, and nothing is being written.
  var isIdle: Bool { withLock { waiting.isEmpty && !isWriting } }

  /// Takes a line, without its end, or drops it.
  func write(_ line: String) {
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

  /// Takes no more; the thread ends once what waits is written.
  func close() {
    withLock {
      isClosed = true
      pthread_cond_signal(condition)
    }
  }

  private func drop(_ count: Int) {
    dropped += count
    untold += count
  }

  // MARK: The thread

  /// With the mutex held, at the first line. `false` when the system has no thread to give.
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
    // A reader that is gone is an error of one write, not the end of the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while let lines = next() {
      let rest = writeAll(lines)
      withLock {
        isWriting = false
        guard !rest.isEmpty else { return }
        let count = rest.count { $0 == UInt8(ascii: "\n") }
        // The notice is the last line and no entry; what it was to say is still to be said.
        drop(beingTold > 0 ? count - 1 : count)
        untold += beingTold
      }
    }
  }

  /// What is to be written now; `nil` at the end.
  private func next() -> [UInt8]? {
    withLock {
      while waiting.isEmpty {
        if isClosed { return nil }
        pthread_cond_wait(condition, mutex)
      }
      var lines: [UInt8] = []
      swap(&lines, &waiting)
      if untold > 0 { lines += "\(untold) log entries were dropped before this\n".utf8 }
      beingTold = untold
      untold = 0
      isWriting = true
      return lines
    }
  }

  /// Returns what could not be written.
  private func writeAll(_ lines: [UInt8]) -> ArraySlice<UInt8> {
    var rest = lines[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Others may have made it one that does not wait.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      } else if errno != EINTR {
        break
      }
    }
    return rest
  }
}
