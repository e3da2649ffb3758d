/// The interceptors of one call, in their places.
///
/// A part that comes to the chain *enters* it. Until it is through, the places keep every interceptor alive, whatever
/// becomes of the call, and interceptors hand parts to their neighbours without counting a reference: that would cost more
/// than all else that a chain does for a part.
@frozen
@usableFromInline
struct InterceptorList<Interceptor: AnyObject> {
  @usableFromInline private(set) var all: [Interceptor]
  /// The last of them.
  @usableFromInline let last: Int
  /// How many can be handed a part by their neighbours at once: all while one is in the chain, and none in between, after
  /// the end, or where an interceptor names an executor.
  @usableFromInline private(set) var reach = 0
  @usableFromInline private(set) var isEntered = false
  /// Whether parts are handed over on the loop alone.
  @usableFromInline private(set) var isDirect = true

  @inlinable @inline(__always)
  init(_ interceptors: consuming [Interceptor]) {
    last = interceptors.count - 1
    all = interceptors
  }

  /// Whether there is an interceptor at this place, as long as the chain keeps any.
  @inlinable @inline(__always)
  func contains(_ index: Int) -> Bool { index >= 0 && index <= last }

  @inlinable
  subscript(index: Int) -> Interceptor { all[index] }

  /// An interceptor that is at this place, and stays.
  @inlinable @inline(__always)
  func near(_ index: Int) -> Unmanaged<Interceptor>? {
    UInt(bitPattern: index) < UInt(bitPattern: reach) ? uncounted(index) : nil
  }

  /// The interceptor at a place that there is.
  @inlinable @inline(__always)
  func uncounted(_ index: Int) -> Unmanaged<Interceptor> {
    all.withUnsafeBufferPointer { .passUnretained($0[index]) }
  }

  /// Whether the chain is entered now, and is to be left.
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

  /// Parts are not handed over on the loop alone.
  @usableFromInline
  mutating func takeDetours() { isDirect = false }

  /// None is handed a part any more.
  @inlinable @inline(__always)
  mutating func close() { reach = 0 }

  /// Gives all of them back, for the caller to let go of: what that leads to may come by here.
  @inlinable
  mutating func takeAll() -> [Interceptor] {
    defer { all = [] }
    return all
  }
}
