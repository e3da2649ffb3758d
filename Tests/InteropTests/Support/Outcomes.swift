import Foundation

@testable import Interop

/// Records which cases passed for which peers, if the environment names a file: `scripts/interop/table` turns it into
/// the table in the documentation.
enum Outcomes {
  private static let path = ProcessInfo.processInfo.environment["SWITCHBOARD_INTEROP_RESULTS"]

  static func record<Result>(
    _ test: TestCase,
    _ column: String,
    _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      let result = try await body()
      append("\(column)\t\(test.rawValue)\tpassed\n")
      return result
    } catch {
      append("\(column)\t\(test.rawValue)\tfailed\n")
      throw error
    }
  }

  private static func append(_ line: String) {
    guard let path else { return }
    // A short line is written atomically.
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    _ = Array(line.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }
}
