// unsafe: closures of one event loop share it

/// A variable that closures share.
///
/// It is generic over exactly the type of its value. The `deinit` of a generic class is not specialized: it knows the
/// class's type parameters, but the runtime looks up any type made of them, such as an optional, for each instance, at
/// a cost of at least 300 instructions.
@usableFromInline
package class Ref<Value>: @unchecked Sendable {
  // Sendable and unchecked exclusivity hold because each instance is used on one event loop only, and no access lasts
  // while other code runs.
  @exclusivity(unchecked) @usableFromInline final var value: Value

  @inlinable
  init(_ value: Value) { self.value = value }
}
