/// The parts of encoded messages.
enum WireBytes {
  static func tag(_ number: Int32, _ wireType: UInt64) -> [UInt8] {
    varint(UInt64(UInt32(bitPattern: number)) << 3 | wireType)
  }

  static func varint(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  /// A length-delimited field.
  static func delimited(_ number: Int32, _ content: [UInt8]) -> [UInt8] {
    tag(number, 2) + varint(UInt64(content.count)) + content
  }
}
