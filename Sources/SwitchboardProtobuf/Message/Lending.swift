// To call a method on a value behind a pointer, the compiler first copies the value, because the call might change the
// memory; for a message that costs a retain per field. An `inout` argument is exclusive, so it is not copied. That is
// why these functions, which only read, take their argument as `inout`.

/// Calls `body` with a value in memory, in place.
@inlinable @inline(__always)
func lend<Value, E: Error>(
  _ address: UnsafePointer<Value>,
  to body: (inout Value) throws(E) -> Void
) throws(E) {
  try body(&UnsafeMutablePointer(mutating: address).pointee)
}

/// Calls `body` with each element of an array, in place.
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

/// Calls `body` with the value of an optional, in place, if there is one.
@inlinable @inline(__always)
func lend<Value, E: Error>(
  _ optional: borrowing Value?,
  to body: (inout Value) throws(E) -> Void
) throws(E) {
  try withUnsafePointer(to: optional) { address throws(E) in
    guard address.pointee != nil else { return }
    // An optional stores its wrapped value at its own address.
    try lend(UnsafeRawPointer(address).assumingMemoryBound(to: Value.self), to: body)
  }
}
