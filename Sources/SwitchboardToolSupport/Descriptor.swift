#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An open file or stream of the system, and the only place that hands memory to it.
public struct Descriptor: Sendable {
  private let number: Int32
  private let name: String

  /// The process's input.
  public static let standardInput = Descriptor(number: 0, name: "standard input")
  /// The process's output.
  public static let standardOutput = Descriptor(number: 1, name: "standard output")
  /// The process's stream for messages to the user.
  public static let standardError = Descriptor(number: 2, name: "standard error")

  private init(number: Int32, name: String) {
    self.number = number
    self.name = name
  }

  /// Opens the file at `path` to read it.
  init(reading path: String) throws(SystemError) {
    try self.init(opening: path, flags: O_RDONLY)
  }

  /// Creates the file at `path`, which must not exist, to write it.
  init(creating path: String) throws(SystemError) {
    try self.init(opening: path, flags: O_WRONLY | O_CREAT | O_EXCL)
  }

  private init(opening path: String, flags: Int32) throws(SystemError) {
    let number = open(path, flags | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw SystemError(path) }
    self.init(number: number, name: path)
  }

  func closeFile() throws(SystemError) {
    guard close(number) == 0 else { throw SystemError(name) }
  }

  /// Everything up to the end.
  public func readAll() throws(SystemError) -> [UInt8] { try readBytes(.max) }

  /// The next `limit` bytes; fewer where the end comes before.
  public func readBytes(_ limit: Int) throws(SystemError) -> [UInt8] {
    var content: [UInt8] = []
    // As much as comes, not as much as the limit says: nothing has come yet.
    var chunk = [UInt8](repeating: 0, count: min(limit, 1 << 16))
    while content.count < limit {
      let wanted = min(chunk.count, limit - content.count)
      // `read` writes no further than the count that it is given, which is at most the buffer's own.
      let count = chunk.withUnsafeMutableBytes { read(number, $0.baseAddress, wanted) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw SystemError(name) }
      if count == 0 { break }
      content.append(contentsOf: chunk[..<count])
    }
    return content
  }

  /// Writes all of `content`.
  public func writeAll(_ content: [UInt8]) throws(SystemError) {
    var rest = content[...]
    while !rest.isEmpty {
      // `write` reads no further than the count that it is given, which is the buffer's own.
      let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
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

/// Writes a line for the user to standard error.
public func complain(_ message: String) {
  // Where even this fails there is nobody left to tell.
  try? Descriptor.standardError.writeAll(Array((message + "\n").utf8))
}

/// Has the process start as the rest of it takes for granted: with three streams, whose numbers no file of ours can get, and
/// with a reader of its output that is gone, or a file that may not become so large, as an error like others.
public func prepareStandardStreams() {
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
    // The lowest that is free is this one.
    _ = open("/dev/null", O_RDWR)
  }
}
