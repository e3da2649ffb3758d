// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A free list of small memory blocks for one loop: every call needs the same few sizes, and the system's allocator,
/// which serves all threads, takes ten times as long.
///
/// Each block comes from the system's allocator, or from an arena, and has its capacity in a header. So a block that is
/// released on another thread, where the pool must not be touched, or when the pool is full, goes back to the system.
package final class BlockPool: @unchecked Sendable {
  // Sendable because the lists are touched only on the thread of the pool's loop; unchecked exclusivity for the same
  // reason.

  /// The difference between two block sizes.
  private static let step = 32
  private static let sizeCount = 16
  /// The largest block size in the pool.
  private static let largest = step * sizeCount
  /// The maximum size of the pool, in bytes.
  static let limit = 1 << 20
  /// The size of the header, which preserves the alignment of the block.
  private static let frontSize = 16

  /// The header of a block in an arena.
  private struct ArenaHeader {
    /// Below zero, unlike that of other blocks.
    let negativeCapacity: Int
    /// The distance of the header from the arena's base.
    let start: Int
  }

  /// For each size, the block released last, which links to the one before it.
  private let lists: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  @exclusivity(unchecked) private(set) var keptByteCount = 0
  /// For sessions.
  package let arenas = ArenaSlabs()
  package let arenasOfTLS = ArenaSlabs(arenaSize: ArenaSlabs.arenaSizeOfTLS)

  init() {
    lists = .allocate(capacity: Self.sizeCount)
    lists.initialize(repeating: nil, count: Self.sizeCount)
  }

  deinit {
    for index in 0..<Self.sizeCount {
      while let block = pop(index) { free(block - Self.frontSize) }
    }
    lists.deallocate()
  }

  /// Call on the loop. A large block is taken from the arena, as far as that has room. `nil` if the system has no memory.
  package func take(_ byteCount: Int, from arena: UnsafeMutableRawPointer? = nil) -> UnsafeMutableRawPointer?
  {
    guard byteCount > 0, byteCount <= Self.largest else {
      return Self.allocate(byteCount, from: arena) ?? make(byteCount)
    }
    let index = (byteCount - 1) / Self.step
    if let block = pop(index) {
      keptByteCount -= (index + 1) * Self.step
      return block
    }
    return make((index + 1) * Self.step)
  }

  /// Call on any thread, because the last reference to a session may be released on another one.
  package func giveBack(_ block: UnsafeMutableRawPointer) {
    let capacity = Self.capacity(of: block)
    guard capacity > 0, capacity <= Self.largest, isHere, keptByteCount + capacity <= Self.limit else {
      return capacity < 0 ? Self.release(inArena: block) : free(block - Self.frontSize)
    }
    let index = (capacity - 1) / Self.step
    block.storeBytes(of: lists[index], as: UnsafeMutableRawPointer?.self)
    lists[index] = block
    keptByteCount += capacity
  }

  /// Returns a block of at least `byteCount` bytes with the contents of the old one. `nil` if the system has no memory;
  /// then the old block stays valid.
  package func grow(
    _ block: UnsafeMutableRawPointer,
    to byteCount: Int,
    from arena: UnsafeMutableRawPointer? = nil
  ) -> UnsafeMutableRawPointer? {
    let capacity = abs(Self.capacity(of: block))
    guard byteCount > capacity else { return block }
    guard let larger = take(byteCount, from: arena) else { return nil }
    larger.copyMemory(from: block, byteCount: capacity)
    giveBack(block)
    return larger
  }

  /// Whether this is the thread of the pool's loop.
  private var isHere: Bool {
    guard let loop = LoopOfThread.address else { return false }
    return Unmanaged<Loop>.fromOpaque(loop)._withUnsafeGuaranteedRef { $0.blocks === self }
  }

  private func make(_ capacity: Int) -> UnsafeMutableRawPointer? {
    guard capacity >= 0, capacity <= .max - Self.frontSize, let base = malloc(capacity + Self.frontSize)
    else { return nil }
    base.storeBytes(of: capacity, as: Int.self)
    return base + Self.frontSize
  }

  // Not inlined, so that `take` stays small.
  @inline(never)
  private static func allocate(_ byteCount: Int, from arena: UnsafeMutableRawPointer?)
    -> UnsafeMutableRawPointer?
  {
    guard let arena, byteCount > 0, byteCount < ArenaSlabs.arenaSize,
      let base = Arena.allocate(frontSize + byteCount, at: arena)
    else { return nil }
    base.storeBytes(of: ArenaHeader(negativeCapacity: -byteCount, start: base - arena), as: ArenaHeader.self)
    return base + frontSize
  }

  private static func release(inArena block: UnsafeMutableRawPointer) {
    let base = block - frontSize
    let front = base.load(as: ArenaHeader.self)
    Arena.release(frontSize - front.negativeCapacity, from: front.start, at: base - front.start)
  }

  private func pop(_ index: Int) -> UnsafeMutableRawPointer? {
    guard let block = lists[index] else { return nil }
    lists[index] = block.load(as: UnsafeMutableRawPointer?.self)
    return block
  }

  private static func capacity(of block: UnsafeMutableRawPointer) -> Int {
    (block - frontSize).load(as: Int.self)
  }
}
