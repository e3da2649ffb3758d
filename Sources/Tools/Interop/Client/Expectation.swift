import Switchboard

/// An unexpected result of a test case.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
}

/// Fails the test case unless two values are equal.
func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) throws {
  guard found != wanted else { return }
  throw Unexpected(description: "\(what): \(found), not \(wanted)")
}

/// The status of a call that must fail; if it succeeds, the test case fails.
nonisolated(nonsending) func failure(
  _ what: String,
  of call: nonisolated(nonsending) () async throws -> Void
) async throws -> GRPCStatus {
  do {
    try await call()
  } catch let status as GRPCStatus {
    return status
  }
  throw Unexpected(description: "\(what) succeeded")
}
