// unsafe: the system reads into and writes from an array of ours

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An open file or stream of the system. All I/O on raw memory happens here.
public struct Descriptor: Sendable {
  private let number: Int32
  private let name: String

  /// The process's standard input.
  public static let standardInput = Descriptor(number: 0, name: "standard input")
  /// The process's standard output.
  public static let standardOutput = Descriptor(number: 1, name: "standard output")
  /// The process's standard error.
  public static let standardError = Descriptor(number: 2, name: "standard error")

  private init(number: Int32, name: String) {
    self.number = number
    self.name = name
  }

  /// Whether bytes are there to be read at once.
  package var hasUnreadBytes: Bool {
    #if canImport(Darwin)
      // FIONREAD, a macro that is not imported there.
      let request: UInt = 0x4004_667F
    #else
      let request = UInt(FIONREAD)
    #endif
    var count: Int32 = 0
    return ioctl(number, request, &count) == 0 && count > 0
  }

  /// Opens the file at `path` for reading.
  package init(reading path: String) throws(SystemError) {
    try self.init(opening: path, flags: O_RDONLY)
  }

  /// Opens the file at `path` for reading, unless it is a link. Does not wait for the writer of a pipe.
  package init(readingEntry path: String) throws(SystemError) {
    try self.init(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Creates the file at `path`, which must not exist, for writing.
  init(creating path: String) throws(SystemError) {
    try self.init(opening: path, flags: O_WRONLY | O_CREAT | O_EXCL)
  }

  /// Sets the permissions of the file.
  func allow(_ mode: mode_t) throws(SystemError) {
    guard fchmod(number, mode) == 0 else { throw SystemError(name) }
  }

  private init(opening path: String, flags: Int32) throws(SystemError) {
    let number = open(path, flags | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw SystemError(path) }
    self.init(number: number, name: path)
  }

  /// Writes to what has this name, such as a pipe or the target of a link, and keeps it. Throws if it is a pipe that nobody
  /// reads, instead of waiting for a reader, perhaps forever.
  package static func writeFile(_ content: [UInt8], through path: String) throws(SystemError) {
    let file: Descriptor
    do throws(SystemError) {
      file = try Descriptor(opening: path, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK)
    } catch {
      var status = stat()
      guard error.isNoDevice, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
        throw error
      }
      throw SystemError(path, reason: "No process reads this pipe")
    }
    // Once it is open, a reader may take its time.
    _ = fcntl(file.number, F_SETFL, 0)
    let written: Result<Void, SystemError> = Result { () throws(SystemError) in try file.writeAll(content) }
    try file.closeFile()
    try written.get()
  }

  package func closeFile() throws(SystemError) {
    guard close(number) == 0 else { throw SystemError(name) }
  }

  /// Reads up to the end.
  public func readAll() throws(SystemError) -> [UInt8] { try readBytes(.max) }

  /// Reads the next `limit` bytes, or fewer at the end.
  public func readBytes(_ limit: Int) throws(SystemError) -> [UInt8] {
    var content: [UInt8] = []
    // Grows with the input, because `limit` may be far larger.
    var chunk = [UInt8](repeating: 0, count: min(limit, 1 << 16))
    while content.count < limit {
      let wanted = min(chunk.count, limit - content.count)
      // `read` writes at most `wanted` bytes, which is at most the size of the buffer.
      let count = chunk.withUnsafeMutableBytes { read(number, $0.baseAddress, wanted) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK), wait(for: POLLIN) { continue }
      guard count >= 0 else { throw SystemError(name) }
      if count == 0 { break }
      content.append(contentsOf: chunk[..<count])
    }
    return content
  }

  /// Reads the available bytes, up to `limit`, and waits only if there are none. Empty at the end.
  package func readSome(_ limit: Int) throws(SystemError) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: limit)
    while true {
      // `read` writes at most as many bytes as the buffer has.
      let count = chunk.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK), wait(for: POLLIN) { continue }
      guard count >= 0 else { throw SystemError(name) }
      chunk.removeSubrange(count...)
      return chunk
    }
  }

  /// Returns `false`, with the system's reason, if it cannot wait.
  private func wait(for events: some BinaryInteger) -> Bool {
    var entry = pollfd(fd: number, events: Int16(truncatingIfNeeded: events), revents: 0)
    return poll(&entry, 1, -1) >= 0 || errno == EINTR
  }

  /// Writes all of `content`.
  public func writeAll(_ content: [UInt8]) throws(SystemError) {
    var rest = content[...]
    while !rest.isEmpty {
      // `write` reads at most as many bytes as the buffer has.
      let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      // The parent process may have made the pipe non-blocking.
      if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK), wait(for: POLLOUT) { continue }
      guard count >= 0 else { throw SystemError(name) }
      rest = rest.dropFirst(count)
    }
  }
}

/// The content of the file at `path`.
public func readFile(_ path: String) throws(SystemError) -> [UInt8] {
  let file = try Descriptor(reading: path)
  let content: Result<[UInt8], SystemError> = Result { () throws(SystemError) in try file.readAll() }
  try file.closeFile()
  return try content.get()
}

/// Writes a line to standard error. Characters that control a terminal or end the line are escaped, because a message may
/// quote a file that somebody else wrote.
public func complain(_ message: String) {
  let line = message.unicodeScalars.map { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      scalar.escaped(asASCII: true)
    default: String(scalar)
    }
  }
  // If this fails, there is no other way to report it.
  try? Descriptor.standardError.writeAll(Array((line.joined() + "\n").utf8))
}

/// Prepares the process: opens all three standard streams, so that no other file gets their numbers, and ignores the
/// signals for a closed pipe and for the file size limit, so that these become ordinary errors.
public func prepareStandardStreams() {
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
    // `open` returns the lowest free number, which is the missing stream's.
    _ = open("/dev/null", O_RDWR)
  }
}
