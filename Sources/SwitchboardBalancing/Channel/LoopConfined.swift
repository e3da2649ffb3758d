/// A reference that other threads carry and only the loop uses.
///
/// Unchecked, because nothing else can state that: code that reads `value` must be on the loop.
package struct LoopConfined<Value: AnyObject>: @unchecked Sendable {
  package private(set) weak var value: Value?

  package init(_ value: Value) { self.value = value }
}
