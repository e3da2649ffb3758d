/// A ``Tag`` encoded for the wire.
///
/// Generated code passes constant field numbers, so the compiler computes the bytes.
@frozen
public struct EncodedTag: Sendable {
  /// The bytes, the first one lowest, and their count in the highest byte: a single word, so that one register passes
  /// it.
  @usableFromInline let bytes: UInt64

  @inlinable
  var count: Int {
    @inline(__always) get { Int(truncatingIfNeeded: bytes &>> 56) }
  }

  /// The tag of a field with the wire type of `type`.
  @inlinable @inline(__always)
  public init(_ number: Int32, _ type: WireType) {
    let bits = UInt64(Tag(number: number, type).bits)
    if bits < 0x80 {
      bytes = bits | 1 &<< 56
    } else if bits < 0x4000 {
      bytes = bits & 0x7F | 0x80 | (bits &>> 7) &<< 8 | 2 &<< 56
    } else {
      // Up to five bytes of seven bits: rare numbers, so speed matters less.
      let size = WireWriter.size(ofVarint: bits)
      var spread = bits & 0x7F
      spread |= (bits &>> 7 & 0x7F) &<< 8
      spread |= (bits &>> 14 & 0x7F) &<< 16
      spread |= (bits &>> 21 & 0x7F) &<< 24
      spread |= (bits &>> 28 & 0x7F) &<< 32
      // Every byte but the last has the continuation bit set.
      spread |= 0x80_8080_8080 & ((1 &<< UInt64(8 &* (size &- 1))) &- 1)
      bytes = spread | UInt64(size) &<< 56
    }
  }
}
