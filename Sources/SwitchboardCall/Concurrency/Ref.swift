/// A variable that closures share.
///
/// It is generic over exactly what it holds. The `deinit` of a generic class is not compiled for its types: it has its
/// parameters at hand, but any type that is made of them, such as an optional, the runtime has to look up for each
/// instance, at 300 instructions and more.
@usableFromInline
class Ref<Value>: @unchecked Sendable {
  // Sendable and unchecked exclusivity hold because whoever makes it uses it on one event loop alone, and no access
  // lasts while other code runs.
  @exclusivity(unchecked) @usableFromInline final var value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }
}
