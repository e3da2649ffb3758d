// unsafe: a weak reference that only the loop reads

/// A reference that any thread may pass on, but only the loop may use.
///
/// It is unchecked, because the compiler cannot verify that code that reads `value` runs on the loop.
package struct LoopConfined<Value: AnyObject>: @unchecked Sendable {
  package private(set) weak var value: Value?

  package init(_ value: Value) { self.value = value }
}
