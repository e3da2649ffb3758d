// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A range of whole pages for the large blocks of one connection.
///
/// Most of their bytes are zero: tables with few entries, and a buffer that was hardly used. While the connection is not
/// in use, the other bytes can be copied to a small block and the pages released. The addresses stay the same.
///
/// The first word is the number of allocated bytes, and the second one the range of the consumed ones.
package struct Arena {
  package let base: UnsafeMutableRawPointer
  let size: Int
  /// The index of its slab in `ArenaSlabs`.
  let slab: Int
  let position: Int

  /// The alignment of all blocks.
  static let alignment = 16

  /// Allocates memory in the session's arena at `base`. `nil` if it has no room.
  static func allocate(_ byteCount: Int, at base: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let start = max(alignment, base.load(as: Int.self))
    guard byteCount >= 0, byteCount <= ArenaSlabs.arenaSize - start else { return nil }
    let end = start + (byteCount + alignment - 1) / alignment * alignment
    guard end <= ArenaSlabs.arenaSize else { return nil }
    base.storeBytes(of: end, as: Int.self)
    return base + start
  }

  /// Releases memory. It is reused only if it was allocated last; otherwise it is zeroed, so that packing leaves it out.
  static func release(_ byteCount: Int, from start: Int, at base: UnsafeMutableRawPointer) {
    let end = start + (byteCount + alignment - 1) / alignment * alignment
    Consumed(start: 0, end: 0).store(at: base)
    if base.load(as: Int.self) == end {
      base.storeBytes(of: start, as: Int.self)
    } else {
      memset(base + start, 0, end - start)
    }
  }

  /// All of the arena, for one block.
  func takeAll() -> UnsafeMutableRawBufferPointer {
    base.storeBytes(of: size, as: Int.self)
    return UnsafeMutableRawBufferPointer(start: base + Self.alignment, count: size - Self.alignment)
  }

  /// Releases the pages, which zeroes their bytes. Returns `false` if that failed for some of them.
  func discard() -> Bool { madvise(base, size, MADV_DONTNEED) == 0 }

  // MARK: Consumed bytes

  /// The range of bytes that are not read again before they are overwritten. All of them are in one block.
  private struct Consumed {
    var start: UInt32
    var end: UInt32

    static func load(at base: UnsafeMutableRawPointer) -> Self {
      base.load(fromByteOffset: MemoryLayout<Int>.size, as: Self.self)
    }

    func store(at base: UnsafeMutableRawPointer) {
      base.storeBytes(of: self, toByteOffset: MemoryLayout<Int>.size, as: Self.self)
    }
  }

  /// Records that these bytes are not read again before they are overwritten, so that `pack` may drop them. If they are
  /// in another block than the recorded ones, or a block was released since, they replace these.
  package func noteConsumed(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.baseAddress, first >= UnsafeRawPointer(base), first + bytes.count <= base + size
    else {
      return
    }
    let start = UInt32(first - UnsafeRawPointer(base))
    var used = Consumed(start: start, end: start + UInt32(bytes.count))
    let known = Consumed.load(at: base)
    // Blocks do not overlap.
    if known.start < used.end, used.start < known.end {
      used = Consumed(start: min(known.start, used.start), end: max(known.end, used.end))
    }
    used.store(at: base)
  }

  private func dropConsumed() {
    let used = Consumed.load(at: base)
    memset(base + Int(used.start), 0, Int(used.end - used.start))
    Consumed(start: 0, end: 0).store(at: base)
  }

  // MARK: Packing

  private typealias Word = UInt64
  private static let wordSize = MemoryLayout<Word>.size

  /// The head of a run of words: the index of its first word in the arena, and their number. The last run is empty.
  private struct RunHead {
    let start: UInt32
    let count: UInt32
  }

  private static let headSize = MemoryLayout<RunHead>.size

  /// A larger copy would not be worth its memory.
  private static let packedLimit = 16 * 1024

  /// Releases the pages, and returns a copy of the words that are not zero. Returns `nil` if there is no memory for the
  /// copy, or it would be too large; the contents are then unchanged, except for consumed bytes that are dropped.
  func pack(droppingConsumed: Bool = false) -> UnsafeMutableRawPointer? {
    if droppingConsumed { dropConsumed() }
    var size = Self.headSize
    forEachRun { size += Self.headSize + $0.count * Self.wordSize }
    guard size <= Self.packedLimit, let copy = malloc(size) else { return nil }
    var end = copy
    forEachRun { words in
      let head = RunHead(start: UInt32(words.lowerBound), count: UInt32(words.count))
      end.storeBytes(of: head, as: RunHead.self)
      end += Self.headSize
      end.copyMemory(from: base + words.lowerBound * Self.wordSize, byteCount: words.count * Self.wordSize)
      end += words.count * Self.wordSize
    }
    end.storeBytes(of: RunHead(start: 0, count: 0), as: RunHead.self)
    guard discard() else {
      // Some of the pages may be gone.
      unpack(copy)
      return nil
    }
    return copy
  }

  /// Puts back what `pack` has kept, and releases the copy.
  func unpack(_ copy: UnsafeMutableRawPointer) {
    var next = copy
    while true {
      let head = next.load(as: RunHead.self)
      if head.count == 0 { break }
      next += Self.headSize
      let byteCount = Int(head.count) * Self.wordSize
      (base + Int(head.start) * Self.wordSize).copyMemory(from: next, byteCount: byteCount)
      next += byteCount
    }
    // Keys may have been in it.
    Self.erase(copy, next - copy)
    free(copy)
  }

  private static func erase(_ bytes: UnsafeMutableRawPointer, _ count: Int) {
    #if canImport(Glibc)
      explicit_bzero(bytes, count)
    #else
      memset_s(bytes, count, 0, count)
    #endif
  }

  private func forEachRun(_ body: (Range<Int>) -> Void) {
    let words = UnsafeRawPointer(base).assumingMemoryBound(to: Word.self)
    let count = base.load(as: Int.self) / Self.wordSize
    var index = 0
    while index < count {
      guard words[index] != 0 else {
        index += 1
        continue
      }
      let start = index
      // A single zero takes no more than the head of another run.
      repeat {
        index += 1
      } while index < count
        && (words[index] != 0 || index + 1 < count && words[index + 1] != 0)
      body(start..<index)
    }
  }
}
