/// An encoded message, divided between the occurrences of one field and the other fields.
struct FieldSplit {
  /// The places of the field's values.
  private(set) var values: [Range<Int>] = []
  /// The encoded message without that field.
  private(set) var rest: [UInt8] = []

  private let bytes: [UInt8]
  private var place = 0

  /// Divides `bytes` and leaves out the field `dropped`; nil if they are invalid, or valid but unusual: then only a
  /// decoder can tell.
  init?(_ bytes: [UInt8], at number: UInt64, without dropped: UInt64? = nil) {
    self.bytes = bytes
    while place < bytes.count {
      let start = place
      guard let tag = readVarint(), let value = skipValue(ofType: tag & 7) else { return nil }
      if tag == number << 3 | 2 {
        values.append(value)
      } else if tag >> 3 != dropped {
        rest += bytes[start..<place]
      }
    }
  }

  /// The place of the value's content; only a value with a length is more than its encoding.
  private mutating func skipValue(ofType type: UInt64) -> Range<Int>? {
    let start = place
    switch type {
    case 0:
      guard readVarint() != nil else { return nil }
      return start..<place
    case 1: return skip(8)
    case 2:
      guard let length = readVarint(), length <= UInt64(bytes.count) else { return nil }
      return skip(Int(length))
    case 5: return skip(4)
    default: return nil
    }
  }

  private mutating func skip(_ length: Int) -> Range<Int>? {
    guard length <= bytes.count - place else { return nil }
    defer { place += length }
    return place..<place + length
  }

  private mutating func readVarint() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard place < bytes.count else { return nil }
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }
}
