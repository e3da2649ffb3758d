import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Small blocks of memory that were given back on a loop, to be taken again there: every call needs the same few sizes, for
/// which the system's allocator, made for all threads, takes ten times as long.
///
/// Each is a block of the system's with its capacity in front. So what is given back where the pool must not be touched, on
/// another thread, or when it holds enough, is the system's again.
final class BlockPool: @unchecked Sendable {
  // Sendable holds because the lists are touched only on the thread of the loop whose pool this is; unchecked exclusivity
  // for the same reason.

  /// Blocks differ by so many bytes.
  private static let step = 32
  private static let sizeCount = 16
  /// The largest that are kept.
  private static let largest = step * sizeCount
  /// How much is kept at the most.
  static let limit = 1 << 20
  /// In front of each block, as long as its alignment wants.
  private static let frontSize = 16

  /// For each size the block that was given back last, which knows the one before it.
  private let lists: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  @exclusivity(unchecked) private(set) var keptByteCount = 0

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

  /// On the loop. `nil` when there is no memory.
  func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    guard byteCount > 0, byteCount <= Self.largest else { return make(byteCount) }
    let index = (byteCount - 1) / Self.step
    if let block = pop(index) {
      keptByteCount -= (index + 1) * Self.step
      return block
    }
    return make((index + 1) * Self.step)
  }

  /// From any thread, since the last to let go of a session may be on another.
  func giveBack(_ block: UnsafeMutableRawPointer) {
    let capacity = Self.capacity(of: block)
    guard capacity > 0, capacity <= Self.largest, isHere, keptByteCount + capacity <= Self.limit else {
      return free(block - Self.frontSize)
    }
    let index = (capacity - 1) / Self.step
    block.storeBytes(of: lists[index], as: UnsafeMutableRawPointer?.self)
    lists[index] = block
    keptByteCount += capacity
  }

  /// As much as was asked for, with what the old block holds. `nil` when there is no memory; then the old block stays.
  func grow(_ block: UnsafeMutableRawPointer, to byteCount: Int) -> UnsafeMutableRawPointer? {
    let capacity = Self.capacity(of: block)
    guard byteCount > capacity else { return block }
    guard let larger = take(byteCount) else { return nil }
    larger.copyMemory(from: block, byteCount: capacity)
    giveBack(block)
    return larger
  }

  /// Whether this is the thread whose loop has this pool.
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

  private func pop(_ index: Int) -> UnsafeMutableRawPointer? {
    guard let block = lists[index] else { return nil }
    lists[index] = block.load(as: UnsafeMutableRawPointer?.self)
    return block
  }

  private static func capacity(of block: UnsafeMutableRawPointer) -> Int {
    (block - frontSize).load(as: Int.self)
  }
}
