/// A change of a file: what replaces a range of its bytes.
struct Edit: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    /// A part of the range that stays, with the changes in it.
    case kept(Range<Int>)
  }

  let range: Range<Int>
  let pieces: [Piece]

  /// The parts of the range that stay.
  var kept: [Range<Int>] {
    pieces.compactMap { piece in
      if case .kept(let range) = piece { range } else { nil }
    }
  }

  /// Whether a comment would be lost.
  func losesComment(in source: SwiftSource, tokens: Range<Int>) -> Bool {
    var at = range.lowerBound
    for token in source.tokens[tokens] {
      let gap = at..<max(at, token.range.lowerBound)
      let isBlank = source.bytes[gap].allSatisfy { $0 <= 0x20 || $0 == UInt8(ascii: "`") }
      if !isBlank, !kept.contains(where: { $0.contains(gap.lowerBound) && $0.contains(gap.upperBound - 1) }) {
        return true
      }
      at = token.range.upperBound
    }
    return false
  }
}

/// Changes of a file that do not cut through each other: two are apart, or one is in a part of the other that stays.
struct Edits: Sendable {
  private var edits: [Edit] = []

  /// Edits in edits in edits; more are left for the next time.
  private static let deepest = 32

  /// Leaves out what lies in an edit that does not keep it.
  init(_ candidates: [Edit]) {
    var open: [Edit] = []
    for edit in candidates.sorted(by: Self.precedes) {
      while let last = open.last, last.range.upperBound <= edit.range.lowerBound { open.removeLast() }
      if let last = open.last {
        let isKept = last.kept.contains {
          $0.lowerBound <= edit.range.lowerBound && edit.range.upperBound <= $0.upperBound
        }
        guard isKept, open.count < Self.deepest else { continue }
      }
      edits.append(edit)
      open.append(edit)
    }
  }

  private static func precedes(_ left: Edit, _ right: Edit) -> Bool {
    (left.range.lowerBound, -left.range.upperBound) < (right.range.lowerBound, -right.range.upperBound)
  }

  /// The file with the changes.
  func applied(to bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    write(0..<bytes.count, of: bytes, from: &index, to: &output)
    return output
  }

  /// Writes a range with the changes in it, of which the first is at the index or later.
  private func write(_ range: Range<Int>, of bytes: [UInt8], from index: inout Int, to output: inout [UInt8])
  {
    var at = range.lowerBound
    while index < edits.count, edits[index].range.upperBound <= range.upperBound {
      let edit = edits[index]
      index += 1
      output += bytes[at..<edit.range.lowerBound]
      let inner = index
      while index < edits.count, edits[index].range.lowerBound < edit.range.upperBound { index += 1 }
      for piece in edit.pieces {
        switch piece {
        case .text(let text): output += text.utf8
        case .kept(let kept):
          var first = inner
          while first < index, edits[first].range.lowerBound < kept.lowerBound { first += 1 }
          write(kept, of: bytes, from: &first, to: &output)
        }
      }
      at = edit.range.upperBound
    }
    output += bytes[at..<range.upperBound]
  }
}
