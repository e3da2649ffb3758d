import SwitchboardText

extension JSONReader {
  /// An error with a description, which is cut if it is long, and a position, by default the cursor's.
  func fail(_ text: String, at offset: Int? = nil) -> DecodeError {
    let place = TextPosition(of: offset ?? position, in: bytes)
    return DecodeError(.malformed("\(text.excerpt(300)) (line \(place.line), column \(place.column))"))
  }

  /// An error that says that `wanted` was expected at the cursor, and what was found.
  func unexpected(_ wanted: String) -> DecodeError {
    if let comma = trailingComma { return fail("a trailing comma, which JSON does not allow", at: comma) }
    let rest = bytes.dropFirst(position).prefix(4)
    if [[0x2F, 0x2F], [0x2F, 0x2A], [0x23]].contains(where: { rest.starts(with: $0) }) {
      return fail("a comment, which JSON does not allow")
    }
    let found = String(decoding: rest, as: UTF8.self).unicodeScalars.first
    let name = found.map { $0.value < 0x20 ? "a control character" : "'\($0)'" } ?? "the end"
    return fail("expected \(wanted), found \(name)")
  }

  /// The comma before the closing bracket at the cursor, which other readers, and people, allow.
  private var trailingComma: Int? {
    guard here == UInt8(ascii: "}") || here == UInt8(ascii: "]"),
      let before = bytes[..<position].lastIndex(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }),
      bytes[before] == UInt8(ascii: ",")
    else { return nil }
    return before
  }
}

extension DecodeError {
  /// Adds an index to the path of the error.
  func inElement(_ index: Int) -> DecodeError { inside("[\(index)]") }

  /// Adds the field `name`, followed by the indices of its elements, to the path of the error.
  func inField(_ name: String) -> DecodeError {
    guard let first = path.first, first.begins(with: "[") else { return inside(name) }
    var error = self
    error.path[0] = name + first
    return error
  }
}
