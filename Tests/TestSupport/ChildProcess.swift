import Glibc
import SwitchboardCall
import Testing

/// A program that a test runs. By default, the test controls its input and output.
///
/// Foundation's `Process` and `Pipe` are not used: child processes of other tests would inherit their descriptors, and
/// keep readers waiting for the end of input. The address sanitizer also complains about how `Process` closes
/// descriptors.
public final class ChildProcess: Sendable {
  public struct CannotStart: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    public var description: String {
      "\(path) cannot be run (\(String(cString: strerror(code)))): make setup installs what the tests need"
    }
  }

  /// A standard stream of the process.
  public enum Stream: Sendable {
    /// The other end of a socket pair, for both input and output.
    case ours
    case inherited, discarded
    /// A full disk.
    case full
    /// Closed.
    case closed
    /// A file that the test has open.
    case descriptor(Int32)
  }

  /// How long a test waits for the process before it fails: minutes, because tests run beside each other.
  private static let patience = 300

  public let identifier: pid_t
  private let socket: Int32
  /// The status from `waitpid`, once it has ended.
  private let status = Locked<Int32?>(nil)

  public init(
    _ path: String,
    _ arguments: [String],
    input: Stream = .ours,
    output: Stream = .ours,
    errors: Stream = .inherited
  ) throws {
    let ends = try SocketPair()
    var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
    setsockopt(ends.near, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    for (number, stream) in [(0, input), (1, output), (2, errors)] as [(Int32, Stream)] {
      Self.connect(&actions, number, stream, ours: ends.far)
    }
    // Closes all other descriptors: a connection of another test must not stay open in this process. (Descriptors that
    // are not open are skipped.)
    for descriptor in 3..<Int32(clamping: min(1024, sysconf(Int32(_SC_OPEN_MAX)))) {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    // The thread may be one that blocks signals, which the process would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, path, &actions, &attributes, &words, environ)
    for word in words { free(word) }
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
    close(ends.far)
    self.identifier = identifier
    socket = ends.near
    guard result == 0 else {
      status.withLock { $0 = 0 }
      throw CannotStart(path: path, code: result)
    }
  }

  private static func connect(
    _ actions: inout posix_spawn_file_actions_t,
    _ number: Int32,
    _ stream: Stream,
    ours: Int32
  ) {
    let flags = number == 0 ? O_RDONLY : O_WRONLY
    switch stream {
    case .ours: posix_spawn_file_actions_adddup2(&actions, ours, number)
    case .inherited: break
    case .discarded: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", flags, 0)
    case .full: posix_spawn_file_actions_addopen(&actions, number, "/dev/full", O_RDWR, 0)
    case .closed: posix_spawn_file_actions_addclose(&actions, number)
    case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    }
  }

  deinit {
    end(with: SIGKILL)
    close(socket)
  }

  /// The next line of its output; `nil` at the end, or if there is none for too long.
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

  /// Writes to its input.
  public func write(_ text: String) {
    MayBlock.check()
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  /// Its output up to the end.
  public func allOutput() -> String {
    MayBlock.check()
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while case let count = read(socket, &piece, piece.count), count > 0 { bytes += piece.prefix(count) }
    wait()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Closes its input, which ends the peers that tests have written.
  public func stop() {
    MayBlock.check()
    shutdown(socket, Int32(SHUT_WR))
    wait()
  }

  /// Sends a signal. After `SIGSTOP`, returns when all threads of the process have stopped: on a busy machine they may
  /// otherwise still accept a connection.
  public func send(_ signal: Int32) {
    let isSent = status.withLock { $0 == nil && kill(identifier, signal) == 0 }
    guard isSent, signal == SIGSTOP else { return }
    var change = siginfo_t()
    waitid(P_PID, id_t(identifier), &change, WSTOPPED | WEXITED | WNOWAIT)
  }

  public func end(with signal: Int32) {
    send(signal)
    wait()
  }

  /// Its exit code, or 128 plus the signal, as in shells.
  public func exitCode() -> Int32 {
    MayBlock.check()
    let status = wait()
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  /// Kills a process that does not end, so that the test fails and not the whole run hangs.
  @discardableResult
  private func wait() -> Int32 {
    status.withLock { known in
      if let known { return known }
      var status: Int32 = 0
      let start = ContinuousClock.now
      while waitpid(identifier, &status, WNOHANG) == 0 {
        if start.duration(to: .now) > .seconds(Self.patience) {
          Issue.record("process \(identifier) did not end")
          kill(identifier, SIGKILL)
          waitpid(identifier, &status, 0)
          break
        }
        usleep(1000)
      }
      known = status
      return status
    }
  }
}
