import Foundation
import SwitchboardCall
import TestSupport

/// A program that a test runs and does something to. It can be killed, frozen and waited for, and its streams can be
/// broken; whatever would block does so on a thread of its own.
final class Program: Sendable {
  /// What one of its streams is.
  enum Stream {
    case discarded
    /// A disk without room.
    case full
    /// Not open at all.
    case closed
    /// What the test has open.
    case descriptor(Int32)
  }

  struct CannotStart: Error, CustomStringConvertible {
    let description: String
  }

  /// How it ended: by itself, or by a signal.
  enum End: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  let identifier: pid_t
  private let output: Int32
  private let end = Locked<End?>(nil)
  private let rest = Locked<[UInt8]>([])

  /// Without `output` its output can be read here.
  init(
    _ path: String,
    _ arguments: [String],
    input: Stream = .discarded,
    output: Stream? = nil,
    errors: Stream = .discarded
  ) throws {
    let ends = try SocketPair()
    defer { close(ends.far) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    Self.connect(&actions, 0, input)
    Self.connect(&actions, 1, output ?? .descriptor(ends.far))
    Self.connect(&actions, 2, errors)
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, path, &actions, nil, &words, environ)
    guard result == 0 else {
      close(ends.near)
      throw CannotStart(description: "\(path) cannot be run: \(String(cString: strerror(result)))")
    }
    self.identifier = identifier
    self.output = ends.near
  }

  deinit {
    if end.withLock({ $0 }) == nil {
      Foundation.kill(identifier, SIGKILL)
      while waitpid(identifier, nil, 0) < 0, errno == EINTR {}
    }
    close(output)
  }

  private static func connect(
    _ actions: inout posix_spawn_file_actions_t,
    _ number: Int32,
    _ stream: Stream
  ) {
    let flags = number == 0 ? O_RDONLY : O_WRONLY
    switch stream {
    case .discarded: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", flags, 0)
    case .full: posix_spawn_file_actions_addopen(&actions, number, "/dev/full", O_RDWR, 0)
    case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    case .closed:
      // To close what is not open would be an error.
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", flags, 0)
      posix_spawn_file_actions_addclose(&actions, number)
    }
  }

  func send(_ signal: Int32) {
    if end.withLock({ $0 }) == nil { Foundation.kill(identifier, signal) }
  }

  /// Ends it without a word, and returns once it is gone.
  func kill() async {
    send(SIGKILL)
    _ = await ended()
  }

  /// Returns once it is gone.
  func ended() async -> End {
    await MayBlock.task { [self] in
      end.withLock { end in
        if let end { return end }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        let found = signal == 0 ? End.exited(status >> 8 & 0xff) : End.killed(signal)
        end = found
        return found
      }
    }.value
  }

  /// The next line that it prints; `nil` at the end, and when nothing has come for a minute.
  func line() async -> String? { await MayBlock.task { [self] in readLine() }.value }

  /// All that it prints from now on.
  func allOutput() async -> String {
    await MayBlock.task { [self] in
      var lines: [String] = []
      while let line = readLine() { lines.append(line) }
      return lines.joined(separator: "\n")
    }.value
  }

  private func readLine() -> String? {
    rest.withLock { rest in
      while true {
        if let index = rest.firstIndex(of: UInt8(ascii: "\n")) {
          defer { rest.removeSubrange(...index) }
          return String(decoding: rest[..<index], as: UTF8.self)
        }
        var piece = [UInt8](repeating: 0, count: 4096)
        var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard Foundation.poll(&poll, 1, 60_000) > 0, case let count = read(output, &piece, piece.count),
          count > 0
        else {
          defer { rest = [] }
          return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
        }
        rest += piece.prefix(count)
      }
    }
  }
}
