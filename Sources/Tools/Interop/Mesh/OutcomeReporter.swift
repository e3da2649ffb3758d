import Glibc
import Switchboard

/// Prints what becomes of calls, and ends the process if that is not to be.
final class OutcomeReporter: Sendable {
  /// A reader that does not read must not keep calls waiting: what it has no room for is left out.
  private let output: LineWriter?
  private let failsOnFailure: Bool
  private let expected: GRPCStatus.Code
  /// Before a call has succeeded, the mesh may not be there yet.
  private let hasSucceeded = Locked(false)

  init(_ arguments: Arguments) throws(Arguments.UsageError) {
    output =
      arguments.isSet("print_response") ? LineWriter(STDOUT_FILENO, capacity: 1 << 20, of: "lines") : nil
    failsOnFailure = arguments.isSet("fail_on_failed_rpc")
    let name = arguments.string("expect_status") ?? "OK"
    guard let code = GRPCStatus.Code(specName: name.uppercased()) else {
      throw Arguments.UsageError(description: "--expect_status is the name of a status, not \(name)")
    }
    expected = code
  }

  deinit { output?.close() }

  func isExpected(_ outcome: CallLedger.Outcome) -> Bool { outcome.status.code == expected }

  func report(_ outcome: CallLedger.Outcome) {
    output?.write(Self.line(outcome))
    let isFirst = hasSucceeded.withLock { hasSucceeded in
      defer { hasSucceeded = hasSucceeded || isExpected(outcome) }
      return !hasSucceeded
    }
    guard failsOnFailure, !isFirst, !isExpected(outcome) else { return }
    StandardError.complain("\(outcome.kind.method) failed: \(outcome.status)")
    exit(1)
  }

  /// Other programs read the greeting.
  private static func line(_ outcome: CallLedger.Outcome) -> String {
    guard outcome.status.code == .ok else { return "\(outcome.kind.method): \(outcome.status)" }
    return switch outcome.kind {
    case .empty: "EmptyCall: answered by \(outcome.hostname)"
    case .unary: "Greeting: Hello world, this is \(outcome.hostname)"
    }
  }
}
