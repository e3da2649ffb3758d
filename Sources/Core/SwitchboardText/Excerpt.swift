extension String {
  /// The text as errors show it: never long, because an error may be sent back to whoever has sent the text, and without
  /// characters that control a terminal or end a line of a log.
  package var excerpt: String { excerpt(100) }

  /// The same, with at most `count` Unicode scalars.
  package func excerpt(_ count: Int) -> String {
    // Cut first, because the text may be very long, and again, because escapes are longer than what they stand for.
    cut(count).withControlsEscaped.cut(count)
  }

  private func cut(_ count: Int) -> String {
    let end = unicodeScalars.index(startIndex, offsetBy: count, limitedBy: endIndex) ?? endIndex
    return end == endIndex ? self : String(unicodeScalars[..<end]) + "…"
  }
}

extension Collection<UInt8> {
  /// The text of UTF-8 as errors show it. No more of it is decoded than is shown.
  package func excerpt(_ count: Int = 100) -> String {
    // One byte more than so many scalars can have.
    String(decoding: prefix(4 * count + 1), as: UTF8.self).excerpt(count)
  }
}
