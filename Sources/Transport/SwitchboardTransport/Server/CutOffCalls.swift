import SwitchboardCall

/// The calls that were still in progress at the end of a shutdown's grace, by method.
final class CutOffCalls: Sendable {
  /// How many methods are named in the log.
  private static let mostMethods = 8

  private let counts = Locked<[[UInt8]: Int]>([:])

  func add(_ paths: some Sequence<String>) {
    counts.withLock { counts in
      for path in paths { counts[Array(path.utf8), default: 0] += 1 }
    }
  }

  /// Methods and their numbers of calls, for the log: those with most by name.
  static func list(_ counts: [(path: String, count: Int)]) -> String {
    let sorted = counts.sorted { ($1.count, $0.path.utf8.count) < ($0.count, $1.path.utf8.count) }
    var methods = sorted.prefix(mostMethods).map { "\($0.path) (\($0.count))" }
    if sorted.count > methods.count { methods.append("\(sorted.count - methods.count) other methods") }
    return methods.joined(separator: ", ")
  }

  /// Logs the calls that were added since the last time, if there are any: those of the methods with most calls by name.
  func report(to logger: Logger, grace: Duration) {
    let counts = counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
    guard !counts.isEmpty else { return }
    let methods = Self.list(counts.map { (String(decoding: $0.key, as: UTF8.self), $0.value) })
    logger.log(
      .warning,
      "calls were cut off, because they had not ended by the end of the shutdown's grace",
      [
        "calls": "\(counts.values.reduce(0, +))", "methods": methods,
        "grace": grace.readable,
      ]
    )
  }
}
