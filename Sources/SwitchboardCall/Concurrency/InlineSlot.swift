/// A place for one value within its owner, a class that is generic over it; values that do not fit lie behind a pointer.
///
/// An optional would do, but its type the runtime looks up for each owner that it lets go of: see `Ref`.
@frozen
@usableFromInline
struct InlineSlot<Value>: ~Copyable {
  // The memory holds a value exactly while `isFull`. The owner keeps the place where it is, and clears it before it goes.
  @usableFromInline var memory: (UInt, UInt, UInt, UInt) = (0, 0, 0, 0)
  @usableFromInline private(set) var isFull = false

  @inlinable
  init() {}

  @inlinable @inline(__always)
  static var fits: Bool {
    MemoryLayout<Value>.size <= MemoryLayout<(UInt, UInt, UInt, UInt)>.size
      && MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
  }

  @inlinable @inline(__always)
  mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<Value>) -> Result) -> Result {
    withUnsafeMutablePointer(to: &memory) { memory in
      let memory = UnsafeMutableRawPointer(memory)
      return body(
        Self.fits
          ? memory.assumingMemoryBound(to: Value.self) : memory.load(as: UnsafeMutablePointer<Value>.self)
      )
    }
  }

  /// Keeps a value. A place that is full stays as it is.
  @inlinable
  mutating func put(_ value: Value) {
    guard !isFull else { return }
    isFull = true
    if !Self.fits { memory.0 = UInt(bitPattern: UnsafeMutablePointer<Value>.allocate(capacity: 1)) }
    withPointer { $0.initialize(to: value) }
  }

  /// Gives the value back.
  @inlinable
  mutating func take() -> Value? {
    guard isFull else { return nil }
    isFull = false
    return withPointer { pointer in
      defer { if !Self.fits { pointer.deallocate() } }
      return pointer.move()
    }
  }

  /// Lets go of the value, if there is one.
  @inlinable @inline(__always)
  mutating func clear() {
    if isFull { destroy() }
  }

  @usableFromInline
  mutating func destroy() {
    isFull = false
    withPointer { pointer in
      pointer.deinitialize(count: 1)
      if !Self.fits { pointer.deallocate() }
    }
  }
}
