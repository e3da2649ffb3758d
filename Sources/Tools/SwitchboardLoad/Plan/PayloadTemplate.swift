/// Text with placeholders that differ from call to call:
///
/// - `{{i}}`: the number of the call, from zero
/// - `{{uuid}}`: a random UUID
/// - `{{random 1 10}}`: a random whole number, both bounds included
package struct PayloadTemplate: Sendable, Equatable {
  enum Part: Sendable, Equatable {
    case text(String)
    case index
    case uuid
    case random(ClosedRange<Int64>)
  }

  private(set) var parts: [Part] = []

  /// Throws if a placeholder is unknown or not closed.
  package init(_ text: String) throws(PayloadError) {
    var rest = Substring(text)
    while let open = Self.firstIndex(of: "{{", in: rest) {
      // Nested JSON objects may also have two braces in a row.
      let inside = rest[open...].dropFirst(2)
      let close = Self.firstIndex(of: "}}", in: inside)
      guard let close, Self.isPlaceholder(inside[..<close]) else {
        if close == nil, inside.first(where: { $0 != " " })?.isLetter == true {
          throw PayloadError("{{\(inside.prefix(20)) has no }}")
        }
        append(rest[..<inside.startIndex])
        rest = inside
        continue
      }
      append(rest[..<open])
      parts.append(try Self.placeholder(inside[..<close]))
      rest = inside[close...].dropFirst(2)
    }
    append(rest)
  }

  /// Whether the text is the same for all calls.
  package var isConstant: Bool { parts.allSatisfy { if case .text = $0 { true } else { false } } }

  /// Whether it depends on the seed.
  package var isRandom: Bool {
    parts.contains {
      switch $0 {
      case .uuid, .random: true
      case .text, .index: false
      }
    }
  }

  /// The text for a call.
  package func text(call: UInt64, numbers: inout SeededNumbers) -> String {
    var text = ""
    for part in parts {
      switch part {
      case .text(let words): text += words
      case .index: text += "\(call)"
      case .uuid: text += Self.uuid(&numbers)
      case .random(let range): text += "\(Int64.random(in: range, using: &numbers))"
      }
    }
    return text
  }

  private mutating func append(_ text: Substring) {
    guard !text.isEmpty else { return }
    if case .text(let words) = parts.last {
      parts[parts.count - 1] = .text(words + text)
    } else {
      parts.append(.text(String(text)))
    }
  }

  private static func firstIndex(of pair: String, in text: Substring) -> Substring.Index? {
    guard let wanted = pair.utf8.first else { return nil }
    let bytes = text.utf8
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let next = bytes.index(after: index)
      if next < bytes.endIndex, bytes[index] == wanted, bytes[next] == wanted { return index }
      index = next
    }
    return nil
  }

  /// A placeholder begins with a letter; the contents of JSON braces begin with a quote or a brace.
  private static func isPlaceholder(_ text: Substring) -> Bool {
    // Templates of other tools begin with a dot.
    text.drop { $0 == " " }.first.map { $0.isLetter || $0 == "." } ?? true
  }

  private static func placeholder(_ text: Substring) throws(PayloadError) -> Part {
    let words = text.split(separator: " ")
    switch (words.first, words.count) {
    case ("i", 1): return .index
    case ("uuid", 1): return .uuid
    case ("random", 3):
      guard let low = Int64(words[1]), let high = Int64(words[2]), low <= high else {
        throw PayloadError("{{\(text)}}: random takes two whole numbers, the smaller one first")
      }
      return .random(low...high)
    default:
      throw PayloadError("{{\(text)}} is not one of {{i}}, {{uuid}} and {{random 1 10}}")
    }
  }

  /// A random UUID (RFC 9562, version 4).
  private static func uuid(_ numbers: inout SeededNumbers) -> String {
    let high = numbers.next() & 0xffff_ffff_ffff_0fff | 0x4000
    let low = numbers.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    let digits = hex(high) + hex(low)
    var text = ""
    for (position, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(position) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// Why a payload cannot be sent.
package struct PayloadError: Error, Sendable, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
