/// Provides the tokens that authorize calls.
///
/// ```swift
/// actor CachedToken: AuthTokenProvider {
///   private var cached: String?
///   func token() async throws -> String? {
///     if cached == nil { cached = try await fetchToken() }
///     return cached
///   }
/// }
/// ```
public protocol AuthTokenProvider: Sendable {
  /// Returns the token for a call, which is sent as `authorization: Bearer`; `nil` sends no token.
  ///
  /// Called for every attempt, and concurrently for concurrent calls: cache what can be reused. A thrown `GRPCStatus`
  /// ends the call; any other error ends it with `UNAUTHENTICATED`.
  func token() async throws -> String?
}
