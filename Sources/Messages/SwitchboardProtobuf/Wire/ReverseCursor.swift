// unsafe: one pointer in a register: its callers make sure of room for a margin

/// A place in memory before which the next bytes are written: the primitives of the binary format, from the last byte to
/// the first.
///
/// It is passed to functions and returned from them, so that it stays in a register: in memory, each write would wait
/// for the one before it. Nothing is checked here. The caller must ensure that there is room for a ``margin`` before
/// the cursor. A write may leave arbitrary bytes there, which the next one overwrites.
struct ReverseCursor {
  /// More than the longest tag, the longest varint and a string of ``shortCount`` bytes together.
  static let margin = 96
  /// The most bytes that ``short(_:count:)`` copies.
  static let shortCount = 64

  private(set) var address: UnsafeMutableRawPointer

  @inline(__always)
  init(_ address: UnsafeMutableRawPointer) { self.address = address }

  /// Makes room for bytes that the caller writes.
  @inline(__always)
  mutating func move(_ count: Int) { address -= count }

  // MARK: Numbers

  @inline(__always)
  mutating func tag(_ tag: EncodedTag) {
    // Of eight bytes the last ones are the tag.
    let free = UInt64(truncatingIfNeeded: 64 &- 8 &* tag.count)
    (address - 8).storeBytes(of: (tag.bytes &<< free).littleEndian, as: UInt64.self)
    address -= tag.count
  }

  @inline(__always)
  mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable>(_ value: Bits) {
    address -= MemoryLayout<Bits>.size
    address.storeBytes(of: value.littleEndian, as: Bits.self)
  }

  @inline(__always)
  mutating func varint(_ value: UInt64) {
    if value < 0x80 {
      fixed(UInt8(truncatingIfNeeded: value))
    } else if value < 0x4000 {
      fixed(UInt16(truncatingIfNeeded: value & 0x7F | 0x80 | (value &>> 7) &<< 8))
    } else if value < 0x20_0000 {
      // The first of four bytes is overwritten.
      let bits = value & 0x7F | 0x8080 | (value &<< 1) & 0x7F00 | (value &<< 2) & 0x7F_0000
      (address - 4).storeBytes(of: UInt32(truncatingIfNeeded: bits &<< 8).littleEndian, as: UInt32.self)
      address -= 3
    } else {
      self = longVarint(value)
    }
  }

  @inline(never)
  private consuming func longVarint(_ value: UInt64) -> ReverseCursor {
    let size = WireWriter.size(ofVarint: value)
    // The low 56 bits in groups of seven, one in each byte: halved into fours, into pairs, and into single ones.
    var bits = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) &<< 4
    bits = bits & 0x0000_3FFF_0000_3FFF | (bits & 0x0FFF_C000_0FFF_C000) &<< 2
    bits = bits & 0x007F_007F_007F_007F | (bits & 0x3F80_3F80_3F80_3F80) &<< 1
    if size <= 8 {
      // Of eight bytes the last ones are the varint; all of them but its last one are continued.
      let free = UInt64(truncatingIfNeeded: 64 &- 8 &* size)
      bits |= 0x8080_8080_8080_8080 & ~(UInt64.max &<< UInt64(truncatingIfNeeded: 8 &* (size &- 1)))
      (address - 8).storeBytes(of: (bits &<< free).littleEndian, as: UInt64.self)
      address -= size
    } else {
      let high = value &>> 56
      if size == 9 {
        fixed(UInt8(truncatingIfNeeded: high))
      } else {
        fixed(UInt16(truncatingIfNeeded: high & 0x7F | 0x80 | (high &>> 7) &<< 8))
      }
      fixed(bits | 0x8080_8080_8080_8080)
    }
    return self
  }

  // MARK: Text

  /// Writes the text of a string that is in its words, with its length.
  @inline(__always)
  mutating func small(_ words: SmallString.Words, count: Int) {
    // Both words, moved so that the text ends at the cursor. The second also has what is not text in its highest byte,
    // which moves out, since the text has at most 15 bytes.
    let text = UInt128(words.high) &<< 64 | UInt128(words.low)
    let moved = count == 0 ? 0 : text &<< UInt128(truncatingIfNeeded: 128 &- 8 &* count)
    (address - 16).storeBytes(of: UInt64(truncatingIfNeeded: moved).littleEndian, as: UInt64.self)
    (address - 8).storeBytes(of: UInt64(truncatingIfNeeded: moved &>> 64).littleEndian, as: UInt64.self)
    address -= count
    fixed(UInt8(truncatingIfNeeded: count))
  }

  /// Copies 16 to ``shortCount`` bytes, with stores that overlap, which takes no call.
  @inline(__always)
  mutating func short(_ source: UnsafeRawPointer, count: Int) {
    typealias Word = SIMD16<UInt8>
    let last = count &- 16
    address -= count
    let (first, final) = (
      source.loadUnaligned(as: Word.self), source.loadUnaligned(fromByteOffset: last, as: Word.self)
    )
    if count > 32 {
      let second = source.loadUnaligned(fromByteOffset: 16, as: Word.self)
      let third = source.loadUnaligned(fromByteOffset: last &- 16, as: Word.self)
      address.storeBytes(of: second, toByteOffset: 16, as: Word.self)
      address.storeBytes(of: third, toByteOffset: last &- 16, as: Word.self)
    }
    address.storeBytes(of: first, as: Word.self)
    address.storeBytes(of: final, toByteOffset: last, as: Word.self)
  }

  /// Copies bytes.
  @inline(__always)
  mutating func copy(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    address -= bytes.count
    address.copyMemory(from: source, byteCount: bytes.count)
  }
}
