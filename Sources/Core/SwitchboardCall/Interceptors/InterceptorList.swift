// unsafe: interceptors that the list keeps while a part is in the chain

/// The interceptors of one call, in order.
///
/// While a part is in the chain, the chain is *entered*: the list keeps every interceptor alive, and interceptors pass
/// parts to their neighbors without counting references, which would cost more than the rest of the chain's work for a
/// part.
@frozen
@usableFromInline
struct InterceptorList<Interceptor: AnyObject> {
  @usableFromInline private(set) var all: [Interceptor]
  /// The index of the last.
  @usableFromInline let last: Int
  /// How many interceptors neighbors can call directly: all while the chain is entered; none otherwise, after the end,
  /// or if an interceptor names an executor.
  @usableFromInline private(set) var reach = 0
  @usableFromInline private(set) var isEntered = false
  /// Whether parts stay on the loop.
  @usableFromInline private(set) var isDirect = true

  @inlinable @inline(__always)
  init(_ interceptors: consuming [Interceptor]) {
    last = interceptors.count - 1
    all = interceptors
  }

  /// Whether `index` has an interceptor, while the chain keeps its interceptors.
  @inlinable @inline(__always)
  func contains(_ index: Int) -> Bool { index >= 0 && index <= last }

  @inlinable
  subscript(index: Int) -> Interceptor { all[index] }

  /// The interceptor at `index`, if it can be called directly.
  @inlinable @inline(__always)
  func near(_ index: Int) -> Unmanaged<Interceptor>? {
    UInt(bitPattern: index) < UInt(bitPattern: reach) ? uncounted(index) : nil
  }

  /// The interceptor at `index`, which must exist.
  @inlinable @inline(__always)
  func uncounted(_ index: Int) -> Unmanaged<Interceptor> {
    all.withUnsafeBufferPointer { .passUnretained($0[index]) }
  }

  /// Enters the chain. Returns `true` if the caller must leave it again.
  @inlinable @inline(__always)
  mutating func enter() -> Bool {
    guard !isEntered, isDirect else { return false }
    isEntered = true
    reach = all.count
    return true
  }

  @inlinable @inline(__always)
  mutating func leave() {
    isEntered = false
    reach = 0
  }

  /// Allows parts to leave the loop.
  @usableFromInline
  mutating func takeDetours() { isDirect = false }

  /// Ends direct calls of interceptors.
  @inlinable @inline(__always)
  mutating func close() { reach = 0 }

  /// Removes all interceptors. The caller releases them afterwards, because that may run code that uses the list.
  @inlinable
  mutating func takeAll() -> [Interceptor] {
    defer { all = [] }
    return all
  }
}
