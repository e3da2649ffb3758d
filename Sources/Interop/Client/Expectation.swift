import Switchboard

/// What a test case found to be otherwise than it has to be.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
}

/// Fails the case unless two values are equal.
func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) throws {
  guard found != wanted else { return }
  throw Unexpected(description: "\(what): \(found), not \(wanted)")
}

/// The status that a call fails with; a call that succeeds fails the case.
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
