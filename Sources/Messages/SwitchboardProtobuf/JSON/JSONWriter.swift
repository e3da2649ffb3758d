// unsafe: memory that grows: each write reserves what it stores
// text: the digits of a number that is written

import SwitchboardText

/// JSON text under construction.
public struct JSONWriter {
  // Raw pointers, because appending to an array checks each time whether it is uniquely referenced. Always `cursor <=
  // end`.
  private var cursor: UnsafeMutableRawPointer
  private var end: UnsafeMutableRawPointer
  private var memory: Memory
  /// The most bytes of text, and where it was cut.
  private let limit: Int
  private var cut = Int.max
  let options: JSONEncodingOptions
  /// Stored, because the check takes a call.
  private let knowsSmallStrings: Bool

  /// The memory of the pointers, in one allocation with its owner.
  private typealias Memory = ManagedBuffer<Void, UInt8>

  /// Text of at most about `limit` bytes: what is written after them is lost, and takes no memory.
  init(options: JSONEncodingOptions, limit: Int = .max) {
    let capacity = 1000
    memory = Memory.create(minimumCapacity: capacity) { _ in () }
    cursor = Self.start(of: memory)
    end = cursor + capacity
    self.limit = max(limit, capacity)
    self.options = options
    knowsSmallStrings = SmallString.isKnown
  }

  private static func start(of memory: Memory) -> UnsafeMutableRawPointer {
    memory.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
  }

  private var start: UnsafeMutableRawPointer { Self.start(of: memory) }

  /// The number of bytes that were written.
  var count: Int { min(cursor - start, cut) }

  /// Whether the text has a limit.
  var isLimited: Bool { limit != .max }

  /// Whether the text is only the beginning of what was written.
  var isCut: Bool { cut != .max }

  /// The text.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(addingCapacity: count) { span in
      span.withUnsafeMutableBufferPointer { buffer, initialized in
        UnsafeMutableRawBufferPointer(buffer).copyMemory(from: written)
        initialized = count
      }
    }
    return bytes
  }

  /// Calls `body` with the text, without a copy of it.
  func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result { try body(written.bytes) }

  /// The text as a string.
  var text: String { String(decoding: written, as: UTF8.self) }

  private var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  // MARK: Memory

  /// Reserves room for `count` more bytes.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if end - cursor < count { grow(count) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let count = count
    guard !isCut, more <= limit - count else { return drop(more) }
    allocate(min(2 * (count + more), limit))
  }

  /// Cuts the text here. What follows is written behind it, over and over.
  private mutating func drop(_ more: Int) {
    cut = count
    // Numbers look back at what they have written.
    let needed = count + 16 + more
    if end - start < needed { allocate(needed) }
    cursor = start + count + 16
  }

  private mutating func allocate(_ capacity: Int) {
    let count = count
    let larger = Memory.create(minimumCapacity: capacity) { _ in () }
    Self.start(of: larger).copyMemory(from: start, byteCount: count)
    memory = larger
    (cursor, end) = (start + count, start + capacity)
  }

  /// Stores a value in reserved room.
  @inline(__always)
  private mutating func store<Value: BitwiseCopyable>(_ value: Value) {
    cursor.storeBytes(of: value, as: Value.self)
    cursor += MemoryLayout<Value>.size
  }

  // MARK: Tokens

  @inline(__always)
  mutating func byte(_ byte: UInt8) {
    reserve(1)
    store(byte)
  }

  /// Appends text that needs neither quotes nor escapes.
  mutating func verbatim(_ text: StaticString) {
    verbatim(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a part of such text.
  mutating func verbatim(_ text: [UInt8], in range: Range<Int>) {
    text.withUnsafeBytes { verbatim(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  @inline(__always)
  private mutating func verbatim(_ text: UnsafeRawBufferPointer) {
    guard let start = text.baseAddress else { return }
    reserve(text.count)
    cursor.copyMemory(from: start, byteCount: text.count)
    cursor += text.count
  }

  mutating func bool(_ value: Bool) { verbatim(value ? "true" : "false") }

  // MARK: Numbers

  /// Appends an integer, in quotes if `isQuoted`.
  @inline(__always)
  mutating func integer<I: FixedWidthInteger>(_ value: I, isQuoted: Bool = false) {
    integer(UInt64(value.magnitude), isNegative: value < 0, isQuoted: isQuoted)
  }

  private mutating func integer(_ magnitude: UInt64, isNegative: Bool, isQuoted: Bool) {
    reserve(23)
    if isQuoted { store(UInt8(ascii: "\"")) }
    if isNegative { store(UInt8(ascii: "-")) }
    cursor += JSONWriter.digits(of: magnitude)
    // Writes digits from the last to the first, two at a time.
    var (next, rest) = (cursor, magnitude)
    while rest >= 10 {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      let (tens, ones) = UInt16(truncatingIfNeeded: pair).quotientAndRemainder(dividingBy: 10)
      next -= 2
      next.storeBytes(of: (0x3030 | tens | ones &<< 8).littleEndian, as: UInt16.self)
      rest = quotient
    }
    if rest > 0 || magnitude == 0 {
      (next - 1).storeBytes(of: UInt8(ascii: "0") | UInt8(truncatingIfNeeded: rest), as: UInt8.self)
    }
    if isQuoted { store(UInt8(ascii: "\"")) }
  }

  /// The number of decimal digits.
  @inline(__always)
  private static func digits(of value: UInt64) -> Int {
    var (count, rest) = (1, value)
    while rest >= 10_000 {
      rest /= 10_000
      count += 4
    }
    if rest >= 100 {
      rest /= 100
      count += 2
    }
    return rest >= 10 ? count + 1 : count
  }

  /// Appends the shortest text that reads back as the same value.
  mutating func double(_ value: Double) {
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53, whole != 0 { return integer(whole) }
    floatingPoint(value.isFinite, value.description)
  }

  /// Appends the shortest text that reads back as the same `Float`.
  mutating func float(_ value: Float) { floatingPoint(value.isFinite, value.description) }

  private mutating func floatingPoint(_ isFinite: Bool, _ text: String) {
    guard isFinite else {
      return verbatim(text == "inf" ? "\"Infinity\"" : text == "-inf" ? "\"-Infinity\"" : "\"NaN\"")
    }
    unescaped(text)
    // Swift writes 1.0; other runtimes write 1.
    if text.utf8.count > 2, (cursor - 2).loadUnaligned(as: UInt16.self) == UInt16(0x302E).littleEndian {
      cursor -= 2
    }
  }

  // MARK: Strings

  /// Appends a string in quotes.
  mutating func string(_ text: String) {
    byte(UInt8(ascii: "\""))
    unescaped(text)
    byte(UInt8(ascii: "\""))
  }

  /// Appends a string, escaped where necessary.
  private mutating func unescaped(_ text: String) {
    let words = unsafeBitCast(text, to: SmallString.Words.self)
    if knowsSmallStrings, let count = SmallString.count(of: words), !JSONWriter.needsEscapes(words, count) {
      // Both words; the next write overwrites what follows the text.
      reserve(16)
      cursor.storeBytes(of: words.low, as: UInt64.self)
      cursor.storeBytes(of: words.high, toByteOffset: 8, as: UInt64.self)
      cursor += count
    } else if knowsSmallStrings, let long = SmallString.longText(of: words) {
      withExtendedLifetime(text) { escaped(long) }
    } else {
      var text = text
      text.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
    }
  }

  @inline(__always)
  private static func needsEscapes(_ words: SmallString.Words, _ count: Int) -> Bool {
    // Spaces where there is no text.
    let spaces: UInt64 = 0x2020_2020_2020_2020
    let low = count >= 8 ? words.low : words.low | spaces &<< UInt64(8 &* count)
    let high = count <= 8 ? spaces : words.high & 0x00FF_FFFF_FFFF_FFFF | spaces &<< UInt64(8 &* (count &- 8))
    return JSONEscapes.marks(in: low) | JSONEscapes.marks(in: high) != 0
  }

  /// Appends UTF-8 with the escapes that it needs.
  private mutating func escaped(_ text: UnsafeRawBufferPointer) {
    guard let start = text.baseAddress else { return }
    reserve(text.count)
    var index = 0
    while index < text.count {
      if text.count - index >= 8 {
        let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if JSONEscapes.marks(in: word) == 0 {
          // There is room for the eight bytes, because the room for the rest is reserved.
          store(word)
          index += 8
          continue
        }
      }
      for unit in text[index..<min(index + 8, text.count)] { escaped(unit) }
      index = min(index + 8, text.count)
      reserve(text.count - index)
    }
  }

  private mutating func escaped(_ unit: UInt8) {
    reserve(6)
    if unit >= 0x20, unit != UInt8(ascii: "\""), unit != UInt8(ascii: "\\") { return store(unit) }
    store(UInt8(ascii: "\\"))
    switch unit {
    case 0x08: store(UInt8(ascii: "b"))
    case 0x09: store(UInt8(ascii: "t"))
    case 0x0A: store(UInt8(ascii: "n"))
    case 0x0C: store(UInt8(ascii: "f"))
    case 0x0D: store(UInt8(ascii: "r"))
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): store(unit)
    default:
      verbatim(unit < 0x10 ? "u000" : "u001")
      byte(unit & 0xF < 10 ? UInt8(ascii: "0") + unit & 0xF : UInt8(ascii: "a") - 10 + unit & 0xF)
    }
  }

  /// Appends bytes in Base64, in quotes.
  mutating func base64(_ value: [UInt8]) {
    reserve(value.count / 3 * 4 + 6)
    store(UInt8(ascii: "\""))
    Base64.encode(value.span) { store($0.littleEndian) }
    store(UInt8(ascii: "\""))
  }
}
