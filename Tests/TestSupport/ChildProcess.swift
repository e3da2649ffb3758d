import Glibc

/// A program that a test runs, with its input and its output in our hands.
///
/// Foundation's `Process` and `Pipe` are not used: what another test starts meanwhile would inherit their ends, and keep
/// whoever reads to the end waiting for as long as it runs. The address sanitizer, too, takes exception to how `Process`
/// closes descriptors.
public final class ChildProcess {
  public struct CannotStart: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    public var description: String {
      "\(path) cannot be run (\(String(cString: strerror(code)))): make setup installs what the tests need"
    }
  }

  /// Where what it prints to its standard error goes.
  public enum Errors {
    case inherited, discarded
  }

  public let identifier: pid_t
  /// Our end of a pair of sockets, of which the program has the other as both.
  private let socket: Int32
  /// What `waitpid` said of it, once it has ended.
  private var status: Int32?

  public init(_ path: String, _ arguments: [String], errors: Errors = .inherited) throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw CannotStart(path: path, code: errno)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    // Whatever this process has open besides: an end of another test's connection must not live on in it. (What is not
    // open is passed over.)
    for descriptor in 3..<Int32(clamping: min(1024, sysconf(Int32(_SC_OPEN_MAX)))) {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    if errors == .discarded { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, path, &actions, nil, &words, environ)
    for word in words { free(word) }
    posix_spawn_file_actions_destroy(&actions)
    close(ends[1])
    self.identifier = identifier
    socket = ends[0]
    guard result == 0 else {
      status = 0
      throw CannotStart(path: path, code: result)
    }
  }

  deinit {
    end(with: SIGKILL)
    close(socket)
  }

  /// The next line it prints; `nil` at the end.
  public func line() -> String? {
    MayBlock.check()
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(socket, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// All that it prints until it ends.
  public func allOutput() -> String {
    MayBlock.check()
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while case let count = read(socket, &piece, piece.count), count > 0 { bytes += piece.prefix(count) }
    wait()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Lets it see the end of its input, which ends the peers that tests have written.
  public func stop() {
    MayBlock.check()
    shutdown(socket, Int32(SHUT_WR))
    wait()
  }

  public func send(_ signal: Int32) { if status == nil { kill(identifier, signal) } }

  public func end(with signal: Int32) {
    send(signal)
    wait()
  }

  /// What it ended with: its exit code, or 128 and the signal, as shells have it.
  public func exitCode() -> Int32 {
    MayBlock.check()
    let status = wait()
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  @discardableResult
  private func wait() -> Int32 {
    if let status { return status }
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    self.status = status
    return status
  }
}
