import SwitchboardCall

/// The status of the error that the operation throws; `nil` if it succeeds.
package func status(of operation: () async throws -> Void) async -> GRPCStatus? {
  do {
    try await operation()
    return nil
  } catch {
    return GRPCStatus(describing: error)
  }
}
