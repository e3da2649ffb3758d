/// Gives the tokens that calls are authorized with.
public protocol AuthTokenProvider: Sendable {
  /// The token for a call, to be sent as `authorization: Bearer`; `nil` sends none.
  ///
  /// It is asked for every call, at once for calls made at the same time: keep what can be used again. A
  /// `GRPCStatus` that it throws ends the call; any other error ends it with `UNAUTHENTICATED`.
  func token() async throws -> String?
}
