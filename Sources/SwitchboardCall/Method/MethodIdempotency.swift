/// What calling a method twice does.
@frozen
public enum MethodIdempotency: Hashable, Sendable {
  /// Nothing is known.
  case unknown
  /// It has no side effects. Clients of the Connect protocol may call it with HTTP's GET, so that caches can keep the
  /// responses.
  case noSideEffects
  /// Calling it twice has the same effect as calling it once.
  case idempotent
}
