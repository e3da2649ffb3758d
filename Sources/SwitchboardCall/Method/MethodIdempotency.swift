/// What calling a method twice does.
@frozen
public enum MethodIdempotency: Hashable, Sendable {
  /// Nothing is known.
  case unknown
  /// It reads and changes nothing: clients of the Connect protocol may call it by HTTP's GET, whose answers caches keep.
  case noSideEffects
  /// It changes something, and twice changes no more than once.
  case idempotent
}
