// unsafe: a thread with its mutex; lines are lent to the system for one write

import SwitchboardCall
import SwitchboardNetwork

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
  /// What the lines are, for the notice that some were dropped.
  private let noun: StaticString
  private var waiting = Lines()
  private var hasThread = false
  private var isWriting = false
  /// Whether the descriptor accepts nothing for now.
  private var isBlocked = false
  private var isClosed = false
  /// The number of dropped lines, by their source.
  private var dropped: [Int: Int] = [:]
  /// The number of dropped lines that the log has not reported.
  private var unreportedLosses = 0
  /// The number of dropped lines in the notice that is being written.
  private var reportedLosses = 0
  /// Called once there are no lines left to write.
  private var waiters: [@Sendable () -> Void] = []
  /// Called then too, and as soon as the descriptor is blocked.
  private var waitersUnlessBlocked: [@Sendable () -> Void] = []

  private struct Lines {
    var bytes: [UInt8] = []
    /// The source of each line.
    var sources: [Int] = []
  }

  package init(_ descriptor: Int32, capacity: Int, of noun: StaticString = "log entries") {
    // A duplicate, because the original number may be reused for another file, such as a client's connection.
    self.descriptor = Self.takesLines(descriptor) ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1
    self.capacity = capacity
    self.noun = noun
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

  /// Whether the descriptor is of a file, a terminal, a pipe or a socket. If the process was started without standard
  /// error, its number belongs to what Dispatch opened first, which would never have room for a line.
  private static func takesLines(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return [S_IFREG, S_IFCHR, S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  package var droppedCount: Int { withLock { dropped.values.reduce(0, +) } }

  /// The number of dropped lines from this source.
  package func droppedCount(from source: Int) -> Int { withLock { dropped[source] ?? 0 } }

  /// Returns when there are no lines left to write, or when `limit` has passed by `time`. With `unlessBlocked`, it does
  /// not wait for a descriptor that accepts nothing for now.
  package func flush(
    within limit: Duration,
    _ time: any CallTime = SystemTime(),
    unlessBlocked: Bool = false
  ) async {
    let end = OneShot<Void>()
    let waits = withLock {
      guard !waiting.bytes.isEmpty || isWriting, !(unlessBlocked && isBlocked) else { return false }
      let waiter: @Sendable () -> Void = { end.settle(.success(())) }
      if unlessBlocked { waitersUnlessBlocked.append(waiter) } else { waiters.append(waiter) }
      return true
    }
    guard waits else { return }
    // Weak, so that a writer that nobody needs closes its descriptor at once.
    let alarm = Task { [weak self] in
      try? await time.sleep(until: time.now.advanced(by: limit))
      if unlessBlocked, !Task.isCancelled { self?.noteBlocked() }
      end.settle(.success(()))
    }
    // Even if the task is cancelled: that is when a process ends.
    await withCheckedContinuation { continuation in
      end.whenSettled { _ in continuation.resume() }
    }
    alarm.cancel()
  }

  /// Adds a line, without its end, or drops it. `source` is any number, by which dropped lines are counted.
  package func write(_ line: String, from source: Int = 0) {
    let bytes = line.utf8
    withLock {
      guard descriptor >= 0, !isClosed, waiting.bytes.count + bytes.count < capacity, startThread() else {
        return drop([source])
      }
      waiting.bytes += bytes
      waiting.bytes.append(UInt8(ascii: "\n"))
      waiting.sources.append(source)
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

  private func drop(_ sources: some Collection<Int>) {
    for source in sources { dropped[source, default: 0] += 1 }
    unreportedLosses += sources.count
  }

  // MARK: The thread

  /// Called with the mutex held, at the first line. Returns `false` if the system cannot start a thread.
  private func startThread() -> Bool {
    if hasThread { return true }
    hasThread = DetachedThread.start { self.run() }
    return hasThread
  }

  private func run() {
    // A write to a closed pipe must fail, and not end the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while let lines = next() {
      let rest = writeAll(lines.bytes)
      let notified = withLock {
        isWriting = false
        isBlocked = false
        if !rest.isEmpty {
          let count = rest.count { $0 == UInt8(ascii: "\n") }
          // The notice is the last line but not an entry; its count must be reported again.
          drop(lines.sources.suffix(reportedLosses > 0 ? count - 1 : count))
          unreportedLosses += reportedLosses
        }
        guard waiting.bytes.isEmpty else { return [@Sendable () -> Void]() }
        defer { (waiters, waitersUnlessBlocked) = ([], []) }
        return waiters + waitersUnlessBlocked
      }
      for waiter in notified { waiter() }
    }
  }

  /// The lines to write next; `nil` at the end.
  private func next() -> Lines? {
    withLock {
      while waiting.bytes.isEmpty {
        if isClosed { return nil }
        pthread_cond_wait(condition, mutex)
      }
      var lines = Lines()
      swap(&lines, &waiting)
      if unreportedLosses > 0 { lines.bytes += "\(unreportedLosses) \(noun) were dropped before this\n".utf8 }
      reportedLosses = unreportedLosses
      unreportedLosses = 0
      isWriting = true
      return lines
    }
  }

  /// A pipe with room for anything has room for this many bytes.
  private static let pieceSize = 4096

  /// Returns the part that could not be written.
  private func writeAll(_ lines: [UInt8]) -> ArraySlice<UInt8> {
    var rest = lines[...]
    while !rest.isEmpty {
      waitForRoom()
      let count = rest.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress, min($0.count, Self.pieceSize))
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR, errno != EAGAIN {
        // Other code may have set the descriptor to non-blocking: then there may be less room than for a piece.
        break
      }
    }
    return rest
  }

  /// Records that the descriptor accepts nothing for now. A terminal may block in a write although it has some room,
  /// which only the passing of time shows.
  private func noteBlocked() {
    let notified = withLock {
      isBlocked = isWriting || !waiting.bytes.isEmpty
      defer { waitersUnlessBlocked = [] }
      return waitersUnlessBlocked
    }
    for waiter in notified { waiter() }
  }

  /// Returns once the descriptor has room, or has failed.
  private func waitForRoom() {
    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&room, 1, 0) == 0 else { return }
    noteBlocked()
    poll(&room, 1, -1)
    withLock { isBlocked = false }
  }
}
