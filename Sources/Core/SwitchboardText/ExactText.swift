// unsafe: lends the bytes of a string to a comparison or a hasher for one call

// Text that a peer chose, by its UTF-8.
//
// Swift compares, hashes and splits strings by what people see: it sorts the combining marks that follow a letter, which
// takes a time quadratic in their number, and looks for the ends of characters. A few hundred kilobytes of marks occupy
// a thread for half a minute. Names, keys, paths and types in protocols are the same only if their bytes are.

/// A string that is equal to another only if both have the same bytes: the key of dictionaries and sets of names.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isExactly(right.text) }

  package func hash(into hasher: inout Hasher) {
    let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    if isHashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
    // No byte of UTF-8, so that two texts in a row are not one.
    hasher.combine(0xFF as UInt8)
  }
}

extension Dictionary where Key == ExactText {
  /// The value for a name with exactly these bytes.
  package subscript(_ name: String) -> Value? {
    get { self[ExactText(name)] }
    set { self[ExactText(name)] = newValue }
  }
}

extension Set where Element == ExactText {
  /// Whether the set has a name with exactly these bytes.
  package func contains(_ name: String) -> Bool { contains(ExactText(name)) }

  /// Adds a name. Returns whether it is new.
  package mutating func insert(_ name: String) -> Bool { insert(ExactText(name)).inserted }
}

extension String {
  /// Whether both have the same bytes. `==` also holds for strings that are only canonically equivalent, such as "K"
  /// and the Kelvin sign.
  package func isExactly(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isEqual = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        String.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
    return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Compares as many bytes as the left buffer has.
  private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index &+ 8 <= left.count {
      let word = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if word != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
      index &+= 8
    }
    while index < left.count {
      if left[index] != right[index] { return false }
      index &+= 1
    }
    return true
  }

  /// How many combining marks in a row the key of a map may have. Unicode's Stream-Safe Text Format allows 30, which is
  /// "significantly beyond what is required for any linguistic or technical usage".
  package static let longestRunOfMarks = 64

  /// Whether the string has more combining marks in a row than the key of a map may have.
  ///
  /// A map is a dictionary whose keys are strings, so it hashes and compares them as Swift does. The time for that is
  /// quadratic in the length of such a run, and in nothing else.
  package var hasLongRunOfMarks: Bool {
    // No mark has fewer than two bytes.
    guard utf8.count > 2 * String.longestRunOfMarks, !utf8Span.isKnownASCII else { return false }
    var run = MarkRun()
    return unicodeScalars.contains { run.isTooLong(with: $0) }
  }
}

/// Counts combining marks in a row.
package struct MarkRun {
  private var count = 0

  package init() {}

  /// Counts a scalar. Returns whether it is a mark and follows as many as a key may have.
  package mutating func isTooLong(with scalar: Unicode.Scalar) -> Bool {
    count = scalar.isMark ? count + 1 : 0
    return count > String.longestRunOfMarks
  }
}

extension Unicode.Scalar {
  /// Whether normalization may sort this scalar, or what it decomposes to, among its neighbors.
  fileprivate var isMark: Bool {
    switch value {
    case ..<0x300: false
    // The only ones in class 0 that decompose to marks.
    case 0xF73, 0xF75, 0xF81: true
    default: properties.canonicalCombiningClass != .notReordered
    }
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Whether both have the same bytes.
  package func isExactly(_ other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Whether the text starts with the bytes of `prefix`. `hasPrefix` compares whole characters.
  package func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

  /// Whether the text comes before another in the order of their bytes.
  package func precedes(_ other: some StringProtocol) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

  /// Whether the text ends with the bytes of `suffix`.
  package func ends(with suffix: String) -> Bool {
    utf8.reversed().starts(with: suffix.utf8.reversed())
  }

  /// The parts between the occurrences of an ASCII character, also where marks follow it.
  package func parts(
    separatedBy separator: Unicode.Scalar,
    maxSplits: Int = .max,
    omittingEmpty: Bool = false
  ) -> [Substring] {
    self[...].utf8
      .split(
        separator: UInt8(ascii: separator),
        maxSplits: maxSplits,
        omittingEmptySubsequences: omittingEmpty
      )
      .map { Substring($0) }
  }

  /// What follows the last occurrence of an ASCII character; nil if there is none.
  package func part(afterLast separator: Unicode.Scalar) -> Substring? {
    let bytes = self[...].utf8
    return bytes.lastIndex(of: UInt8(ascii: separator)).map { Substring(bytes[bytes.index(after: $0)...]) }
  }
}
