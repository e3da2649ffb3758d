import Switchboard
import Testing

/// A list of lines, to which any thread can add.
final class Log: Sendable {
  private let state = Locked<[String]>([])

  func note(_ line: String) { state.withLock { $0.append(line) } }

  var lines: [String] { state.withLock { $0 } }

  /// Waits until there are at least `count` lines.
  func lines(atLeast count: Int) async throws -> [String] {
    for _ in 0..<20_000 where lines.count < count { try await Task.sleep(for: .milliseconds(2)) }
    try #require(lines.count >= count, "there are only \(lines)")
    return lines
  }
}
