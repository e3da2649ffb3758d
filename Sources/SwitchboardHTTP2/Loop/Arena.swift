#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A range of whole pages for the large blocks of one connection.
///
/// Most of their bytes are zero: tables with few entries, and a buffer of which little was ever used. While nobody uses
/// the connection, what is not zero can be kept elsewhere and the pages be given back. The addresses stay the same.
///
/// The first word says how many bytes of it were taken, and the second one where the used-up ones are.
struct Arena {
  let base: UnsafeMutableRawPointer
  let size: Int
  /// Where `ArenaSlabs` has it.
  let slab: Int
  let position: Int

  /// Everything in an arena begins at a multiple of this.
  static let alignment = 16

  /// Takes memory of a session's arena, which is at `base`. `nil` if it has no room.
  static func carve(_ byteCount: Int, at base: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let start = max(alignment, base.load(as: Int.self))
    guard byteCount >= 0, byteCount <= ArenaSlabs.arenaSize - start else { return nil }
    let end = start + (byteCount + alignment - 1) / alignment * alignment
    guard end <= ArenaSlabs.arenaSize else { return nil }
    base.storeBytes(of: end, as: Int.self)
    return base + start
  }

  /// Releases memory that was taken. The arena only has room for something else if it was taken last; else the memory
  /// is zeroed, so that nothing is kept of it.
  static func release(_ byteCount: Int, from start: Int, at base: UnsafeMutableRawPointer) {
    let end = start + (byteCount + alignment - 1) / alignment * alignment
    UsedUp(start: 0, end: 0).store(at: base)
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

  /// Gives the pages back: from then on their bytes are zero. Returns `false` if that holds for a part of them at most.
  func discard() -> Bool { madvise(base, size, MADV_DONTNEED) == 0 }

  // MARK: Used-up bytes

  /// The offsets of bytes that nobody will read before they are written again. They all are in one block.
  private struct UsedUp {
    var start: UInt32
    var end: UInt32

    static func load(at base: UnsafeMutableRawPointer) -> Self {
      base.load(fromByteOffset: MemoryLayout<Int>.size, as: Self.self)
    }

    func store(at base: UnsafeMutableRawPointer) {
      base.storeBytes(of: self, toByteOffset: MemoryLayout<Int>.size, as: Self.self)
    }
  }

  /// Notes that nobody will read these bytes before they are written again, whenever `pack` drops what is used up. If
  /// they are in another block than those before, or a block was released since, only they are.
  func noteUsedUp(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.baseAddress, first >= UnsafeRawPointer(base), first + bytes.count <= base + size
    else {
      return
    }
    let start = UInt32(first - UnsafeRawPointer(base))
    var used = UsedUp(start: start, end: start + UInt32(bytes.count))
    let known = UsedUp.load(at: base)
    // Blocks do not overlap.
    if known.start < used.end, used.start < known.end {
      used = UsedUp(start: min(known.start, used.start), end: max(known.end, used.end))
    }
    used.store(at: base)
  }

  private func dropUsedUp() {
    let used = UsedUp.load(at: base)
    memset(base + Int(used.start), 0, Int(used.end - used.start))
    UsedUp(start: 0, end: 0).store(at: base)
  }

  // MARK: Packing

  private typealias Word = UInt64
  private static let wordSize = MemoryLayout<Word>.size

  /// What comes before the words of a run: its first word in the arena, and how many there are. The last run is empty.
  private struct RunHead {
    let start: UInt32
    let count: UInt32
  }

  private static let headSize = MemoryLayout<RunHead>.size

  /// A copy that is larger is not worth its memory.
  private static let packedLimit = 16 * 1024

  /// Gives the pages back, and returns a copy of the words that are not zero. `nil`: there is no memory for it, or it
  /// would be too large; then nothing has changed. What is used up is lost, if it is to be dropped.
  func pack(droppingUsedUp: Bool = false) -> UnsafeMutableRawPointer? {
    if droppingUsedUp { dropUsedUp() }
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
