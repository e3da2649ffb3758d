/// Strings of up to 15 bytes, which a Swift string holds in its own two words instead of in memory of their own.
///
/// Most strings in messages are that short. The standard library's ways in and out go byte by byte and through memory; what
/// stands here goes by whole words. It rests on how the standard library lays a string out, which is settled where Swift's ABI is stable and the same
/// on other 64-bit systems: the bytes from the lowest one on, and in the highest one the count and what kind of string
/// it is. ``isKnown`` looks whether that holds in this process, and nothing here is used where it does not.
enum SmallString {
  /// The most bytes that it takes.
  static let capacity = 15

  /// The high byte without the count: small, and all ASCII or not.
  private static let ascii: UInt64 = 0xE0 << 56
  private static let other: UInt64 = 0xA0 << 56
  private static let smallBit: UInt64 = 0x20 << 56

  /// The two words of a string.
  typealias Words = (low: UInt64, high: UInt64)

  /// Whether strings are laid out as this file has it.
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
        // Made at run time, since a literal need not be small.
        let made = String(decoding: Array(sample.text.utf8), as: UTF8.self)
        return unsafeBitCast(made, to: Words.self) == sample.words
          && unsafeBitCast(sample.words, to: String.self) == sample.text
      }
      let large = String(decoding: Array("0123456789abcdef".utf8), as: UTF8.self)
      return areAsExpected && unsafeBitCast(large, to: Words.self).high & smallBit == 0
    #else
      return false
    #endif
  }()

  /// The words of `text` and the count of its bytes, or nil where it is not small. Only where the layout ``isKnown``.
  @inline(__always)
  static func words(of text: String) -> (low: UInt64, high: UInt64, count: Int)? {
    let words = unsafeBitCast(text, to: Words.self)
    guard words.high & smallBit != 0 else { return nil }
    return (words.low, words.high, Int(truncatingIfNeeded: words.high &>> 56 & 0xF))
  }

  /// The string of the `count` bytes at `address`, or nil where they are not all ASCII. Only where the layout ``isKnown``, and for no more than
  /// ``capacity`` bytes.
  @inline(__always)
  static func make(_ address: UnsafeRawPointer, count: Int) -> String? {
    var low: UInt64 = 0
    var high: UInt64 = 0
    if count >= 8 {
      low = address.loadUnaligned(as: UInt64.self)
      // The last eight bytes, of which those that `low` has are shifted out. Twice, as 64 bits cannot go at once.
      let last = address.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      high = (last &>> 8) &>> UInt64(8 &* (15 &- count))
    } else if count >= 4 {
      let first = UInt64(address.loadUnaligned(as: UInt32.self))
      let last = UInt64(address.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
      low = first | last &<< UInt64(8 &* (count &- 4))
    } else if count > 0 {
      // One to three: the first, the middle and the last byte, which may be the same.
      let middle = count &>> 1
      low =
        UInt64(address.load(as: UInt8.self))
        | UInt64(address.load(fromByteOffset: middle, as: UInt8.self)) &<< UInt64(8 &* middle)
        | UInt64(address.load(fromByteOffset: count &- 1, as: UInt8.self)) &<< UInt64(8 &* (count &- 1))
    }
    guard (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
    // Moved out of the words, since a cast would hand out a copy and count a reference that there is not.
    var words = Words(low, high | ascii | UInt64(count) &<< 56)
    return withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: String.self).move()
    }
  }
}
