// unsafe: texts lent to RE2 for one call, its result copied and freed

import CRE2
import SwitchboardText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What stands for each match of a pattern: text in which `\1` to `\9` are the match's groups, `\0` is all of it, and `\\` is a
/// backslash.
package struct Substitution: Hashable, Sendable {
  /// More bytes are refused: each match may be replaced by so many.
  package static let lengthLimit = 256

  /// The steps of a program times the square of the bytes of a text: each of many matches may be looked for to the end of the text. In
  /// a text beyond that, nothing is replaced.
  static let workLimit = 1 << 24

  private let pattern: Pattern
  private let rewrite: ExactText

  /// Throws if the text names groups that the pattern does not have, or has another escape.
  package init(of pattern: Pattern, by rewrite: String) throws(PatternError) {
    guard rewrite.utf8.count <= Self.lengthLimit else {
      throw PatternError("has more than \(Self.lengthLimit) bytes")
    }
    var reason = [CChar](repeating: 0, count: CompiledPattern.reasonRoom)
    let isValid = rewrite.withCharacters {
      cre2_can_replace(pattern.compiled.raw, $0, $1, &reason, CompiledPattern.reasonRoom)
    }
    guard isValid else { throw PatternError(reason.reasonOfRE2) }
    self.pattern = pattern
    self.rewrite = ExactText(rewrite)
  }

  /// The text with all matches replaced, from the left, each as RE2's `GlobalReplace` finds it.
  package func applied(to text: Span<UInt8>) -> [UInt8] {
    let isBounded = text.count <= Self.workLimit / max(1, pattern.size) / max(1, text.count)
    return text.withUnsafeBytes { bytes in
      guard isBounded else { return Array(bytes) }
      var count = 0
      let result = rewrite.text.withCharacters { characters, length in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        return cre2_replace(pattern.compiled.raw, start, bytes.count, characters, length, &count)
      }
      // Without memory for it, nothing is replaced.
      guard let result else { return Array(bytes) }
      defer { free(result) }
      return Array(UnsafeRawBufferPointer(start: result, count: count))
    }
  }
}
