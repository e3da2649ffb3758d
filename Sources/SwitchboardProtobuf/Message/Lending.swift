// To call a method on a value behind a pointer the compiler copies the value first, since for all that it knows the
// call changes the memory; for a message that is a retain for every field. An `inout` argument it knows to be
// left alone: it is exclusive. So what only reads takes its argument `inout` here, and leaves it as it was.

/// Shows a value in memory to `body` in place.
@inlinable @inline(__always)
func lend<Value, E: Error>(
  _ address: UnsafePointer<Value>,
  to body: (inout Value) throws(E) -> Void
) throws(E) {
  try body(&UnsafeMutablePointer(mutating: address).pointee)
}

/// Shows the elements of an array to `body`, each in place.
@inlinable @inline(__always)
func forEachLent<Element, E: Error>(
  in array: [Element],
  _ body: (inout Element) throws(E) -> Void
) throws(E) {
  try array.withUnsafeBufferPointer { elements throws(E) in
    guard let first = elements.baseAddress else { return }
    for index in elements.indices { try lend(first + index, to: body) }
  }
}

/// Shows the value of an optional to `body` in place, where there is one.
@inlinable @inline(__always)
func lend<Value, E: Error>(
  _ optional: borrowing Value?,
  to body: (inout Value) throws(E) -> Void
) throws(E) {
  try withUnsafePointer(to: optional) { address throws(E) in
    guard address.pointee != nil else { return }
    // An optional keeps the value that it wraps at its own address.
    try lend(UnsafeRawPointer(address).assumingMemoryBound(to: Value.self), to: body)
  }
}
