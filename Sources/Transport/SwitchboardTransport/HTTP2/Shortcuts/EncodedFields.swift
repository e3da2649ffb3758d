// unsafe: nghttp2: one owner a session, callbacks within one call into it

/// The fields of a block of headers, as HPACK encodes them, of which only the ends are of interest.
struct EncodedFields {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0
  /// Whether what was skipped may change the table that later blocks refer to. So may bytes that are no field.
  private(set) var mayChangeTable = false

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Skips all fields. Returns whether the last of them ends where the bytes do.
  @inline(__always)
  mutating func skipAll() -> Bool {
    while skipIndexed() {
      guard skip() else {
        mayChangeTable = true
        return false
      }
    }
    return true
  }

  /// Skips fields that are in a table, at indices that fit into a byte each, as most are. Returns whether there are more
  /// fields.
  @inline(__always)
  private mutating func skipIndexed() -> Bool {
    while offset < bytes.count {
      guard (0x80..<0xff).contains(bytes[offset]) else { return true }
      offset += 1
    }
    return false
  }

  /// Skips a field, or a change of the table's size. Returns `false` if the bytes are neither.
  private mutating func skip() -> Bool {
    guard offset < bytes.count else { return false }
    let first = bytes[offset]
    if first & 0x80 != 0 { return number(bits: 7) != nil }
    if first & 0x60 != 0 { mayChangeTable = true }
    if first & 0xe0 == 0x20 { return number(bits: 5) != nil }
    guard let name = number(bits: first & 0x40 != 0 ? 6 : 4) else { return false }
    return (name > 0 || skipString()) && skipString()
  }

  private mutating func skipString() -> Bool {
    guard let count = number(bits: 7), count <= bytes.count - offset else { return false }
    offset += count
    return true
  }

  /// A number in the lowest bits of a byte or, if all of these are set, also in the bytes that follow.
  @inline(__always)
  private mutating func number(bits: Int) -> Int? {
    guard offset < bytes.count else { return nil }
    let limit = 1 << bits - 1
    let value = Int(bytes[offset]) & limit
    offset += 1
    return value < limit ? value : longNumber(from: value)
  }

  @inline(never)
  private mutating func longNumber(from limit: Int) -> Int? {
    var value = limit
    // No number within a frame takes more bytes.
    for shift in [0, 7, 14, 21] {
      guard offset < bytes.count else { return nil }
      let byte = Int(bytes[offset])
      offset += 1
      value += (byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }
}
