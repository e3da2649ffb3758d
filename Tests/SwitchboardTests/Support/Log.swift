import Switchboard

/// Lines in the order in which they were noted, from any thread.
final class Log: Sendable {
  private let state = Locked<[String]>([])

  func note(_ line: String) { state.withLock { $0.append(line) } }

  var lines: [String] { state.withLock { $0 } }

  /// Waits until there are so many lines.
  func lines(atLeast count: Int) async throws -> [String] {
    while lines.count < count { try await Task.sleep(for: .milliseconds(2)) }
    return lines
  }
}
