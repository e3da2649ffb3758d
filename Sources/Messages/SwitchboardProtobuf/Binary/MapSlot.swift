// unsafe: moves a value of a map into two words that own it, and back

/// A key or a value of a map in two words, as a dictionary stores it: a number by its bits, extended to 64; a string by
/// its memory; bytes and messages by their reference.
///
/// What reads and writes entries is written once, for words. Only the dictionaries, which are of many types, are
/// accessed by code that is generic over ``MapSlot``.
typealias MapWords = SmallString.Words

/// A Swift type of the keys or values of maps in a slot. Each is the type of several field types; numbers that are not
/// keys are stored as their bits, because a dictionary never inspects its values.
protocol MapSlot {
  /// The words of the value, which holds what they refer to.
  var words: MapWords { get }

  /// The value of words that own what they refer to.
  init(owned words: MapWords)

  /// Writes a field with the value of these words, before what was written last.
  static func write(
    _ words: MapWords,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: ReverseCursor
  ) -> ReverseCursor
}

extension MapSlot {
  @inline(__always)
  static func write(
    _ words: MapWords,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    encoder.part(words, as: type, number: number, cursor)
  }
}

/// A ``MapSlot`` that may be a key.
protocol MapKeySlot: MapSlot, Hashable {}

// MARK: Numbers

/// A number, which is stored as its bits.
protocol NumberSlot: MapKeySlot {}

extension NumberSlot {
  // Small numbers are written in place, because most are small.
  @inline(__always)
  static func write(
    _ words: MapWords,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    guard words.low < 0x80, type.isPlainVarint else {
      return encoder.part(words, as: type, number: number, cursor)
    }
    var cursor = cursor
    encoder.reserve(&cursor)
    cursor.fixed(UInt8(truncatingIfNeeded: words.low))
    cursor.tag(EncodedTag(number, .varint))
    return cursor
  }
}

extension FieldType {
  /// Whether values are written as varints of their bits.
  fileprivate var isPlainVarint: Bool {
    switch self {
    case .int32, .int64, .uint32, .uint64, .bool, .enumeration: true
    default: false
    }
  }
}

extension Int32: NumberSlot {
  var words: MapWords { MapWords(UInt64(bitPattern: Int64(self)), 0) }
  init(owned words: MapWords) { self.init(truncatingIfNeeded: words.low) }
}

extension Int64: NumberSlot {
  var words: MapWords { MapWords(UInt64(bitPattern: self), 0) }
  init(owned words: MapWords) { self.init(bitPattern: words.low) }
}

extension UInt32: NumberSlot {
  var words: MapWords { MapWords(UInt64(self), 0) }
  init(owned words: MapWords) { self.init(truncatingIfNeeded: words.low) }
}

extension UInt64: NumberSlot {
  var words: MapWords { MapWords(self, 0) }
  init(owned words: MapWords) { self = words.low }
}

extension Bool: NumberSlot {
  var words: MapWords { MapWords(self ? 1 : 0, 0) }
  init(owned words: MapWords) { self = words.low != 0 }
}

// MARK: Strings, bytes and messages

/// A type whose memory is that of its words, or of the first of them.
protocol ReferenceSlot: MapSlot {}

extension ReferenceSlot {
  @inline(__always)
  var words: MapWords {
    var words = MapWords(0, 0)
    withUnsafeBytes(of: self) { value in
      withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: value) }
    }
    return words
  }

  /// The words of the value, which own what it refers to.
  @inline(__always)
  func leaked() -> MapWords {
    var words = MapWords(0, 0)
    withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: Self.self).initialize(to: self)
    }
    return words
  }

  @inline(__always)
  init(owned words: MapWords) {
    var words = words
    self = withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: Self.self).move()
    }
  }
}

extension String: MapKeySlot, ReferenceSlot {
  // Written in place, because most keys are strings.
  @inline(__always)
  static func write(
    _ words: MapWords,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    encoder.reserve(&cursor)
    // The cursor is not captured, so that it stays in a register.
    var words = words
    encoder.string(&words, EncodedTag(number, .lengthDelimited), isOptional: true, &cursor)
    return cursor
  }
}

extension [UInt8]: MapSlot, ReferenceSlot {}
extension MessageStorage: MapSlot, ReferenceSlot {}
