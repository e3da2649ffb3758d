// unsafe: RE2: one owner a pointer, freed in `deinit`; texts lent for one call

import CRE2
import SwitchboardText

/// A regular expression in [RE2's syntax](https://github.com/google/re2/wiki/Syntax), for texts from the network: matching takes
/// time in proportion to the text, and time and memory up to a bound, whatever the expression and the text are.
///
/// Two patterns are equal if they were made of the same bytes.
package struct Pattern: Hashable, Sendable {
  /// More bytes are refused.
  package static let lengthLimit = 4096
  /// What the program of a pattern may take, together with what is kept while it matches. A pattern that needs more is refused, and
  /// a text that needs more is matched without keeping anything, which is slower.
  private static let memoryLimit: Int64 = 512 * 1024
  /// The steps of a program times the bytes of a text: what RE2 does at worst, which takes some 20 ms. A text beyond that does not
  /// match.
  package static let workLimit = 1 << 20

  private let source: ExactText
  let compiled: CompiledPattern

  /// Throws why the text is none, in RE2's own words.
  package init(_ text: String) throws(PatternError) {
    guard text.utf8.count <= Self.lengthLimit else {
      throw PatternError("has more than \(Self.lengthLimit) bytes")
    }
    source = ExactText(text)
    compiled = try CompiledPattern(text, memory: Self.memoryLimit)
  }

  /// As it was given.
  package var text: String { source.text }

  /// How many steps its program has: what compiling it took, and keeping it takes.
  package var size: Int { cre2_program_size(compiled.raw) }

  /// The longest text that is matched, in bytes.
  package var longestText: Int { Self.workLimit / max(1, size) }

  /// Whether all of the text matches. It is UTF-8: bytes that are no part of a character match nothing but `\C`.
  package func matches(_ text: Span<UInt8>) -> Bool {
    guard text.count <= longestText else { return false }
    return text.withUnsafeBytes { bytes in
      cre2_matches(compiled.raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
  }

  package static func == (left: Pattern, right: Pattern) -> Bool { left.source == right.source }

  package func hash(into hasher: inout Hasher) { hasher.combine(source) }
}

/// Why a text is no pattern, or cannot replace matches of one.
package struct PatternError: Error, Hashable, Sendable {
  /// What is wrong, without the text itself, except for the part that RE2 names.
  package let reason: String
  /// Whether its program is too large, which takes as long to find out as to compile the largest one that is not.
  package let isTooLarge: Bool

  init(_ reason: String, isTooLarge: Bool = false) {
    self.reason = reason
    self.isTooLarge = isTooLarge
  }
}

/// What RE2 made of a pattern.
final class CompiledPattern: @unchecked Sendable {
  // Sendable because RE2 promises that any number of threads may match with one compiled pattern at once; nothing changes it.
  let raw: OpaquePointer

  /// RE2's reasons are short, but may end with all of the pattern.
  static let reasonRoom = 512

  fileprivate init(_ text: String, memory: Int64) throws(PatternError) {
    var reason = [CChar](repeating: 0, count: Self.reasonRoom)
    var isTooLarge = false
    let made = text.withCharacters {
      cre2_compile($0, $1, memory, &reason, Self.reasonRoom, &isTooLarge)
    }
    guard let made else { throw PatternError(reason.reasonOfRE2, isTooLarge: isTooLarge) }
    raw = made
  }

  deinit { cre2_free(raw) }
}

extension [CChar] {
  /// A text that C has written, up to its end.
  var reasonOfRE2: String {
    let text = String(decoding: prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.isEmpty ? "out of memory" : text
  }
}

extension String {
  /// Lends the bytes to C.
  func withCharacters<Result>(_ body: (UnsafePointer<CChar>?, Int) -> Result) -> Result {
    var copy = self
    return copy.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress, $0.count) }
    }
  }
}
