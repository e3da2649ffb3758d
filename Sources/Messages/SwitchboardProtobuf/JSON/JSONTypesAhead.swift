/// Finds the `@type` of objects in JSON, which may come after all other members.
///
/// It remembers what it found, so that the text is scanned only once even if `Any`s are nested.
struct JSONTypesAhead {
  /// The name of the member that holds the type of an `Any`.
  static let key = "@type"

  /// The values of `@type`, by the offset of the object.
  private var types: [Int: JSONReader.StringToken] = [:]
  /// The end of the text that was scanned.
  private var end = 0

  /// The `@type` of the object at the reader's cursor, at any position in the object.
  mutating func type(at reader: JSONReader) throws(DecodeError) -> String? {
    var ahead = reader
    guard ahead.peek() == UInt8(ascii: "{") else { throw ahead.unexpected("'{'") }
    let start = ahead.position
    if start >= end {
      // It usually comes first; then no scan is necessary.
      if let type = try JSONTypesAhead.first(of: ahead) { return try reader.text(of: type) }
      try look(through: &ahead)
      end = ahead.position
    }
    return try types[start].map { token throws(DecodeError) in try reader.text(of: token) }
  }

  private static func first(of reader: JSONReader) throws(DecodeError) -> JSONReader.StringToken? {
    var ahead = reader
    var isFirst = true
    try ahead.enter(UInt8(ascii: "{"))
    guard try ahead.hasNext(UInt8(ascii: "}"), isFirst: &isFirst), try ahead.takesTypeName() else {
      return nil
    }
    return try ahead.stringToken()
  }

  /// Skips the value at the cursor and records the types of all objects in it.
  private mutating func look(through reader: inout JSONReader) throws(DecodeError) {
    var open: [JSONReader.OpenBracket] = []
    repeat {
      try reader.skipStep(&open) { object, token in
        if types[object] == nil { types[object] = token }
      }
    } while !open.isEmpty
  }
}

extension JSONReader {
  /// Skips the name of a member and returns whether it is `@type`.
  mutating func takesTypeName() throws(DecodeError) -> Bool {
    let token = try stringToken()
    try expect(UInt8(ascii: ":"))
    return try contents(of: token).elementsEqual(JSONTypesAhead.key.utf8)
  }
}
