import Glibc

/// A program that a test runs, with its input and its output in our hands. Foundation's `Process` is not
/// used, since the address sanitizer takes exception to how it closes descriptors.
final class ChildProcess {
  struct CannotStart: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    var description: String {
      "\(path) cannot be run (\(String(cString: strerror(code)))): make setup installs what the tests need"
    }
  }

  /// Where what it prints to its standard error goes.
  enum Errors {
    case inherited, discarded
  }

  let identifier: pid_t
  /// Our end of a pair of sockets, of which the program has the other as both.
  private let socket: Int32
  private var isGone = false

  init(_ path: String, _ arguments: [String], errors: Errors = .inherited) throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw CannotStart(path: path, code: errno)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
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
      isGone = true
      throw CannotStart(path: path, code: result)
    }
  }

  deinit {
    end(with: SIGKILL)
    close(socket)
  }

  /// The next line it prints; `nil` at the end.
  func line() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(socket, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// All that it prints until it ends.
  func allOutput() -> String {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while case let count = read(socket, &piece, piece.count), count > 0 { bytes += piece.prefix(count) }
    wait()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Lets it see the end of its input, which ends the peers that tests have written.
  func stop() {
    shutdown(socket, Int32(SHUT_WR))
    wait()
  }

  func send(_ signal: Int32) { if !isGone { kill(identifier, signal) } }

  func end(with signal: Int32) {
    send(signal)
    wait()
  }

  private func wait() {
    guard !isGone else { return }
    isGone = true
    while waitpid(identifier, nil, 0) < 0, errno == EINTR {}
  }
}
