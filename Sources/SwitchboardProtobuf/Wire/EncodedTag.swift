/// A ``Tag`` as the bytes that it takes on the wire.
///
/// Wherever a message is generated the number of the field is a constant, and so are the bytes: the compiler encodes them.
@frozen
public struct EncodedTag: Sendable {
  /// The bytes, the first one lowest, and their count in the highest one: one word, which takes one register where it is handed on.
  @usableFromInline let bytes: UInt64

  @inlinable
  var count: Int {
    @inline(__always) get { Int(truncatingIfNeeded: bytes &>> 56) }
  }

  /// The tag of a field whose value is framed as `type` has it.
  @inlinable @inline(__always)
  public init(_ number: Int32, _ type: WireType) {
    let bits = UInt64(Tag(number: number, type).bits)
    if bits < 0x80 {
      bytes = bits | 1 &<< 56
    } else if bits < 0x4000 {
      bytes = bits & 0x7F | 0x80 | (bits &>> 7) &<< 8 | 2 &<< 56
    } else {
      // Up to five bytes of seven bits: rare numbers, and no branch needed.
      let size = WireWriter.size(ofVarint: bits)
      var spread = bits & 0x7F
      spread |= (bits &>> 7 & 0x7F) &<< 8
      spread |= (bits &>> 14 & 0x7F) &<< 16
      spread |= (bits &>> 21 & 0x7F) &<< 24
      spread |= (bits &>> 28 & 0x7F) &<< 32
      // Every byte but the last says that one follows.
      spread |= 0x80_8080_8080 & ((1 &<< UInt64(8 &* (size &- 1))) &- 1)
      bytes = spread | UInt64(size) &<< 56
    }
  }
}
