// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall
import SwitchboardText

/// W3C's `traceparent` of the current version: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. Calls read and
/// write it sixteen digits at a time, instead of character by character.
extension SpanIdentity {
  package static var textByteCount: Int { 55 }

  /// The size of the header, as HTTP/2 counts it.
  static var listSize: Int { 11 + textByteCount + 32 }

  /// `nil` for anything else, such as another version, or identities of zeros.
  package init?(text: UnsafeBufferPointer<UInt8>) { self.init(text: UnsafeRawBufferPointer(text)) }

  @inline(__always)
  init?(text: UnsafeRawBufferPointer) {
    guard text.count == Self.textByteCount else { return nil }
    // `00-`, the dash behind each identity, and the flags.
    let start = text.loadUnaligned(fromByteOffset: 0, as: UInt32.self).bigEndian >> 8 ^ 0x30302d
    let dashes = (UInt32(text[35]) ^ 0x2d) | (UInt32(text[52]) ^ 0x2d)
    guard start | dashes == 0, let high = Hex.lowerValue(text[53]), let low = Hex.lowerValue(text[54])
    else { return nil }
    var faults = HexDigits.Faults()
    self.init()
    traceHigh = HexDigits.value(text, 3, &faults)
    traceLow = HexDigits.value(text, 19, &faults)
    span = HexDigits.value(text, 36, &faults)
    flags = high << 4 | low
    isRemote = true
    guard !faults.exist, traceHigh | traceLow != 0, span != 0 else { return nil }
  }

  /// Writes the text into memory that has room for it behind `start`.
  @inline(__always)
  func write(to memory: UnsafeMutableRawBufferPointer, at start: Int) {
    // The fourth byte is overwritten.
    memory.storeBytes(of: UInt32(0x3030_2d00).bigEndian, toByteOffset: start, as: UInt32.self)
    HexDigits.write(traceHigh, to: memory, start + 3)
    HexDigits.write(traceLow, to: memory, start + 19)
    memory[start + 35] = UInt8(ascii: "-")
    HexDigits.write(span, to: memory, start + 36)
    memory[start + 52] = UInt8(ascii: "-")
    memory[start + 53] = Hex.lower(flags >> 4)
    memory[start + 54] = Hex.lower(flags & 15)
  }

  /// The text as an array.
  package var text: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.textByteCount) { memory, count in
      write(to: UnsafeMutableRawBufferPointer(memory), at: 0)
      count = Self.textByteCount
    }
  }
}

/// Sixteen hexadecimal digits, in lower case, of which trace headers allow no others.
private enum HexDigits {
  /// Two digits in each, the first one in the lower byte, as all processors that Swift runs on load them.
  typealias Lanes = SIMD8<UInt16>

  /// What was wrong with the digits that were read.
  struct Faults {
    fileprivate var values = Lanes()
    fileprivate var kinds = Lanes()

    @inline(__always)
    var exist: Bool {
      let values = unsafeBitCast(values, to: SIMD2<UInt64>.self)
      let kinds = unsafeBitCast(kinds, to: SIMD2<UInt64>.self)
      return (values[0] | values[1]) & 0xf0f0_f0f0_f0f0_f0f0 | (kinds[0] | kinds[1]) & 0x0101_0101_0101_0101
        != 0
    }
  }

  @inline(__always)
  static func value(_ text: UnsafeRawBufferPointer, _ offset: Int, _ faults: inout Faults) -> UInt64 {
    let digits = text.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
    let letters = digits &>> 6 & 0x0101
    // The values of letters are at least ten, and those of numerals less. Other characters have values above fifteen, or
    // are letters or numerals by one of these criteria only.
    let values = digits &- 0x3030 &- letters &* 0x27
    faults.values |= values
    faults.kinds |= (values &+ 0x0606) &>> 4 ^ letters
    let bytes = SIMD8<UInt8>(truncatingIfNeeded: (values &<< 4 | values &>> 8) & 0xff)
    return UInt64(bigEndian: unsafeBitCast(bytes, to: UInt64.self))
  }

  @inline(__always)
  static func write(_ value: UInt64, to memory: UnsafeMutableRawBufferPointer, _ offset: Int) {
    let bytes = Lanes(truncatingIfNeeded: unsafeBitCast(value.bigEndian, to: SIMD8<UInt8>.self))
    let values = (bytes &>> 4 | bytes &<< 8) & 0x0f0f
    let letters = (values &+ 0x0606) &>> 4 & 0x0101
    memory.storeBytes(of: values &+ 0x3030 &+ letters &* 0x27, toByteOffset: offset, as: Lanes.self)
  }
}
