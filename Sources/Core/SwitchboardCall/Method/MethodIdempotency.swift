/// The effect of calling a method twice.
@frozen
public enum MethodIdempotency: Hashable, Sendable {
  /// The effect is unknown.
  case unknown
  /// The method has no side effects. Connect clients may call it with HTTP GET, so that responses can be cached.
  case noSideEffects
  /// Calling the method twice has the same effect as calling it once.
  case idempotent
}
