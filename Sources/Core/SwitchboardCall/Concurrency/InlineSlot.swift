// unsafe: memory that holds a value exactly while it says so, within an owner that stays where it is

/// Stores one value inside its owner, a class that is generic over the value, or behind a pointer if it does not fit.
///
/// An optional would work, but the runtime would look up its type for each released owner: see `Ref`.
@frozen
@usableFromInline
struct InlineSlot<Value>: ~Copyable {
  // The memory holds a value exactly while `isFull`. The owner never moves the slot, and clears it in its `deinit`.
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

  /// Stores a value, unless the slot is full.
  @inlinable
  mutating func put(_ value: Value) {
    guard !isFull else { return }
    isFull = true
    if !Self.fits { memory.0 = UInt(bitPattern: UnsafeMutablePointer<Value>.allocate(capacity: 1)) }
    withPointer { $0.initialize(to: value) }
  }

  @inlinable
  mutating func take() -> Value? {
    guard isFull else { return nil }
    isFull = false
    return withPointer { pointer in
      defer { if !Self.fits { pointer.deallocate() } }
      return pointer.move()
    }
  }

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
