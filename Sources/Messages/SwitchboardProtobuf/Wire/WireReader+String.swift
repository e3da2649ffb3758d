// unsafe: the cursor over bytes: each step is checked against the end

extension WireReader {
  /// Reads a length and that many bytes of UTF-8.
  @usableFromInline
  mutating func string() throws(DecodeError) -> String {
    if let text = shortString() { return text }
    return try longString()
  }

  /// Reads a short string that is all ASCII; nil, without moving, for any other. Most strings are that; others are read
  /// in a separate function, so that this path needs few registers.
  @inline(__always)
  mutating func shortString() -> String? {
    guard knowsSmallStrings, cursor < end else { return nil }
    let count = Int(cursor.load(as: UInt8.self))
    guard count <= SmallString.capacity, count < end - cursor,
      let text = SmallString.make(cursor + 1, count: count)
    else { return nil }
    cursor += 1 + count
    return text
  }

  /// Reads a short string that is all ASCII into a slot, whose words are those of a string or zero. Returns false,
  /// without moving, for any other.
  @inline(__always)
  mutating func shortString(into slot: UnsafeMutablePointer<SmallString.Words>) -> Bool {
    guard cursor < end, knowsSmallStrings, !SmallString.isReference(slot.pointee) else { return false }
    let count = Int(cursor.load(as: UInt8.self))
    guard count <= SmallString.capacity, count < end - cursor,
      let words = SmallString.words(at: cursor + 1, count: count)
    else { return false }
    cursor += 1 + count
    slot.pointee = words
    return true
  }

  /// Reads any string.
  @inline(never)
  mutating func longString() throws(DecodeError) -> String {
    let raw = try lengthDelimited()
    if StringMemory.counts.contains(raw.count), classes.string.isKnown {
      let text = StringMemory.Text(raw)
      if text.isASCII { return StringMemory(text, classes).string() }
    }
    let bytes = raw.bindMemory(to: UInt8.self)
    // Checking for ASCII is faster than validating UTF-8.
    if WireReader.isASCII(raw) {
      return String(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true))
    }
    guard let text = try? UTF8Span(validating: bytes.span) else { throw DecodeError(.invalidUTF8) }
    return String(copying: text)
  }

  /// Reads a string that may be one of those that were read before.
  @inline(never)
  mutating func longString(sharing recent: inout RecentStrings) throws(DecodeError) -> String {
    if cursor < end {
      let count = Int(cursor.load(as: UInt8.self))
      if StringMemory.counts.contains(count), count < end - cursor, classes.string.isKnown {
        let text = StringMemory.Text(UnsafeRawBufferPointer(start: cursor + 1, count: count))
        if text.isASCII {
          cursor += 1 + count
          return recent.string(text, classes)
        }
      }
    }
    return try longString()
  }

  @inline(__always)
  private static func isASCII(_ raw: UnsafeRawBufferPointer) -> Bool {
    guard let start = raw.baseAddress else { return true }
    let high: UInt64 = 0x8080_8080_8080_8080
    let count = raw.count
    guard count >= 8 else {
      for byte in raw where byte >= 0x80 { return false }
      return true
    }
    var index = 0
    while index < count &- 8 {
      if start.loadUnaligned(fromByteOffset: index, as: UInt64.self) & high != 0 { return false }
      index &+= 8
    }
    // The last eight bytes, which may overlap the preceding ones.
    return start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) & high == 0
  }
}
