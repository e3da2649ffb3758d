// unsafe: strings by their memory, whose layout is checked in each process

/// The memory of a string that is too long for a ``SmallString``: an object with the capacity, and the count with the
/// kind of text, before the text and a zero.
///
/// The standard library takes seven calls to make such a string. What is assumed of its layout is checked in each
/// process (``sampleClass()``).
struct StringMemory {
  let object: ObjectMemory

  /// The minimum and maximum number of bytes of a string that is made here: shorter ones have no memory, longer ones
  /// have further parts.
  static let counts = 16...63

  private static let ascii: UInt64 = 0xF << 60

  /// The class of the objects of strings, if they have the layout that this file assumes.
  static func sampleClass() -> ObjectClasses.Class? {
    var type: ObjectClasses.Class?
    for count in [16, 31, 32, 47, 48, 63] {
      // Built at run time, because a literal has no object.
      let sample = String(decoding: [UInt8](repeating: UInt8(count) + 32, count: count), as: UTF8.self)
      let words = unsafeBitCast(sample, to: SmallString.Words.self)
      let isExpected = withExtendedLifetime(sample) {
        guard let object = SmallString.object(of: words), words.low == ascii | UInt64(count) else {
          return false
        }
        let its = ObjectClasses.Class(of: object)
        guard type == nil || type == its else { return false }
        type = its
        return object.load(fromByteOffset: 16, as: UInt64.self) == UInt64(room(for: count))
          && object.load(fromByteOffset: 24, as: UInt64.self) == words.low
          && object.load(fromByteOffset: 32 + count, as: UInt8.self) == 0
      }
      guard isExpected else { return nil }
    }
    return type
  }

  init(_ object: ObjectMemory) { self.object = object }

  /// Makes a string of a text that is all ASCII, which the caller owns.
  @inline(__always)
  init(_ text: Text, _ classes: ObjectClasses) {
    let room = StringMemory.room(for: text.count)
    object = ObjectMemory(classes.string, size: 32 &+ room, classes)
    object.address.storeBytes(of: UInt64(room), toByteOffset: 16, as: UInt64.self)
    object.address.storeBytes(of: text.kind, toByteOffset: 24, as: UInt64.self)
    text.store(to: object.address + 32)
  }

  /// The bytes for a text and the zero after it.
  @inline(__always)
  private static func room(for count: Int) -> Int { (count &+ 16) & ~15 }

  /// Whether the string has a text.
  @inline(__always)
  func has(_ text: Text) -> Bool { kind == text.kind && text.isEqual(to: object.address + 32) }

  /// The count with the kind of text.
  @inline(__always)
  private var kind: UInt64 { object.address.load(fromByteOffset: 24, as: UInt64.self) }

  /// The string, which takes over the caller's reference.
  @inline(__always)
  func string() -> String {
    var words = SmallString.Words(low: kind, high: UInt64(UInt(bitPattern: object.address)))
    // Moved out of the words, as in `SmallString`.
    return withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: String.self).move()
    }
  }

  /// Releases the string.
  @inline(__always)
  func release(_ classes: ObjectClasses) {
    // Others than those with a capacity that is not negative have a further part.
    if object.isOf(classes.string), object.isSole(classes),
      object.address.load(fromByteOffset: 16, as: Int64.self) >= 0
    {
      object.free()
    } else {
      object.release()
    }
  }
}

extension StringMemory {
  /// A text of ``StringMemory/counts`` bytes, in parts from either end that may overlap.
  struct Text {
    private typealias Part = SIMD2<UInt64>

    let count: Int
    private let first: Part
    private let second: Part
    private let secondLast: Part
    private let last: Part

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
      let start = bytes.baseAddress.unsafelyUnwrapped
      count = bytes.count
      first = start.loadUnaligned(as: Part.self)
      last = start.loadUnaligned(fromByteOffset: count &- 16, as: Part.self)
      second = count > 32 ? start.loadUnaligned(fromByteOffset: 16, as: Part.self) : first
      secondLast = count > 32 ? start.loadUnaligned(fromByteOffset: count &- 32, as: Part.self) : last
    }

    @inline(__always)
    var isASCII: Bool {
      let all = first | second | secondLast | last
      return (all.x | all.y) & 0x8080_8080_8080_8080 == 0
    }

    /// What the object of a string says of this text, if it is all ASCII.
    @inline(__always)
    var kind: UInt64 { StringMemory.ascii | UInt64(count) }

    @inline(__always)
    func isEqual(to address: UnsafeMutableRawPointer) -> Bool {
      let other = Text(UnsafeRawBufferPointer(start: address, count: count))
      let difference =
        first ^ other.first | second ^ other.second | secondLast ^ other.secondLast | last ^ other.last
      return difference.x | difference.y == 0
    }

    /// Writes the text and a zero.
    @inline(__always)
    func store(to address: UnsafeMutableRawPointer) {
      address.storeBytes(of: first, as: Part.self)
      if count > 32 {
        address.storeBytes(of: second, toByteOffset: 16, as: Part.self)
        address.storeBytes(of: secondLast, toByteOffset: count &- 32, as: Part.self)
      }
      address.storeBytes(of: last, toByteOffset: count &- 16, as: Part.self)
      address.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    }

    /// A number from 0 to 7 that texts which differ at either end hardly share.
    @inline(__always)
    var hash: Int {
      let mixed = (first.x ^ last.y &* 0x9E37_79B9_7F4A_7C15) &* 0x9E37_79B9_7F4A_7C15
      return Int(truncatingIfNeeded: (mixed ^ UInt64(count)) &>> 61)
    }
  }
}
