// unsafe: short strings by their two words, whose layout is checked in each process

/// Strings of up to 15 bytes, which a Swift string stores in its own two words instead of on the heap.
///
/// Most strings in messages are that short. The standard library converts them byte by byte and through memory; this
/// type converts whole words. It relies on the standard library's layout of a string, which is fixed where Swift's ABI
/// is stable and the same on other 64-bit systems: the bytes from the lowest one on, and in the highest byte the count
/// and the kind of string. ``isKnown`` checks the layout in this process; nothing here is used if it differs.
enum SmallString {
  /// The maximum number of bytes.
  static let capacity = 15

  /// The high byte without the count: a small string, all ASCII or not.
  private static let ascii: UInt64 = 0xE0 << 56
  private static let other: UInt64 = 0xA0 << 56
  private static let smallBit: UInt64 = 0x20 << 56

  /// The two words of a string.
  typealias Words = (low: UInt64, high: UInt64)

  /// Whether strings have the layout that this file assumes.
  static let isKnown: Bool = {
    #if _endian(little) && _pointerBitWidth(_64)
      guard MemoryLayout<String>.size == 16 else { return false }
      let samples: [(text: String, words: Words)] = [
        ("", (0, ascii)),
        ("brass", (0x73_7361_7262, ascii | 5 << 56)),
        ("0123456789abcde", (0x3736_3534_3332_3130, 0x0065_6463_6261_3938 | ascii | 15 << 56)),
        ("\u{E9}", (0xA9C3, other | 2 << 56)),
      ]
      let areAsExpected = samples.allSatisfy { sample in
        // Built at run time, because a literal need not be a small string.
        let made = String(decoding: Array(sample.text.utf8), as: UTF8.self)
        return unsafeBitCast(made, to: Words.self) == sample.words
          && unsafeBitCast(sample.words, to: String.self) == sample.text
      }
      return areAsExpected && isLongKnown("0123456789abcdef")
        && isLongKnown(String(repeating: "\u{E9}", count: 99))
    #else
      return false
    #endif
  }()

  private static func isLongKnown(_ sample: String) -> Bool {
    var text = sample
    return text.withUTF8 { text in
      let words = unsafeBitCast(sample, to: Words.self)
      guard words.high & smallBit == 0, let found = longText(of: words) else { return false }
      return found.baseAddress == UnsafeRawPointer(text.baseAddress) && found.count == text.count
    }
  }

  /// The words of `text` and the count of its bytes, or nil if it is not a small string. Requires ``isKnown``.
  @inline(__always)
  static func words(of text: String) -> (low: UInt64, high: UInt64, count: Int)? {
    let words = unsafeBitCast(text, to: Words.self)
    return count(of: words).map { (words.low, words.high, $0) }
  }

  /// The count of the bytes of a string with these words, or nil if it is not a small string. Requires ``isKnown``.
  @inline(__always)
  static func count(of words: Words) -> Int? {
    words.high & smallBit == 0 ? nil : Int(truncatingIfNeeded: words.high &>> 56 & 0xF)
  }

  /// Whether a string with these words, which may be zero, refers to reference-counted memory. Short strings and
  /// literals do not, and have the highest bit set.
  @inline(__always)
  static func isReference(_ words: Words) -> Bool { Int64(bitPattern: words.high) > 0 }

  /// The object that a string refers to; nil for a string of another kind. Requires ``isKnown``.
  @inline(__always)
  static func object(of words: Words) -> UnsafeRawPointer? {
    words.high &>> 60 == 0 ? UnsafeRawPointer(bitPattern: UInt(words.high)) : nil
  }

  /// The text of a string that is not small, where it is in memory of the string's own; nil for other kinds of strings,
  /// such as those of other languages. Requires ``isKnown``.
  @inline(__always)
  static func longText(of words: Words) -> UnsafeRawBufferPointer? {
    // Of the four highest bits, the second lowest says small, the lowest that the text is not UTF-8. In the other word,
    // above the count, one bit says that the text follows a header.
    guard words.high & 0x3000_0000_0000_0000 == 0, words.low & 0x1000_0000_0000_0000 != 0 else { return nil }
    let object = UnsafeRawPointer(bitPattern: UInt(words.high & 0x0FFF_FFFF_FFFF_FFFF))
    return UnsafeRawBufferPointer(start: object.map { $0 + 32 }, count: Int(words.low & 0xFFFF_FFFF_FFFF))
  }

  /// The string of the `count` bytes at `address`, at most ``capacity``, or nil if they are not all ASCII. Requires
  /// ``isKnown``.
  @inline(__always)
  static func make(_ address: UnsafeRawPointer, count: Int) -> String? {
    guard var words = words(at: address, count: count) else { return nil }
    // Moved out of the words: a cast would return a copy and release a reference that was never retained.
    return withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: String.self).move()
    }
  }

  /// The words of the same string.
  @inline(__always)
  static func words(at address: UnsafeRawPointer, count: Int) -> Words? {
    var low: UInt64 = 0
    var high: UInt64 = 0
    if count >= 8 {
      low = address.loadUnaligned(as: UInt64.self)
      // The last eight bytes; those already in `low` are shifted out, in two steps because one shift by 64 is not
      // possible.
      let last = address.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      high = (last &>> 8) &>> UInt64(8 &* (15 &- count))
    } else if count >= 4 {
      let first = UInt64(address.loadUnaligned(as: UInt32.self))
      let last = UInt64(address.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
      low = first | last &<< UInt64(8 &* (count &- 4))
    } else if count > 0 {
      // One to three bytes: the first, the middle and the last, which may coincide.
      let middle = count &>> 1
      low =
        UInt64(address.load(as: UInt8.self))
        | UInt64(address.load(fromByteOffset: middle, as: UInt8.self)) &<< UInt64(8 &* middle)
        | UInt64(address.load(fromByteOffset: count &- 1, as: UInt8.self)) &<< UInt64(8 &* (count &- 1))
    }
    guard (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
    return Words(low, high | ascii | UInt64(count) &<< 56)
  }
}
