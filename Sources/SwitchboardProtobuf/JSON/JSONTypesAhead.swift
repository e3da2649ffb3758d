/// Where the objects in JSON have their `@type`, which may be behind everything else in them.
///
/// What has been looked through is noted, so that the text is looked through once, however many `Any`s there are within
/// each other.
struct JSONTypesAhead {
  /// The name of the member that says what an `Any` holds.
  static let key = "@type"

  /// The values of `@type`, by where the objects begin that have one.
  private var types: [Int: JSONReader.StringToken] = [:]
  /// Up to where all objects have been looked through that begin after the first of them.
  private var end = 0

  /// The `@type` of the object at the reader's cursor, wherever in it that stands.
  mutating func type(at reader: JSONReader) throws(DecodeError) -> String? {
    var ahead = reader
    guard ahead.peek() == UInt8(ascii: "{") else { throw ahead.unexpected("'{'") }
    let start = ahead.position
    if start >= end {
      // It usually comes first, and then there is no need to look any further.
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

  /// Passes over the value at the cursor, and notes the types of all objects in it.
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
  /// Passes over the name of a member, and says whether it is `@type`.
  mutating func takesTypeName() throws(DecodeError) -> Bool {
    let token = try stringToken()
    try expect(UInt8(ascii: ":"))
    return try contents(of: token).elementsEqual(JSONTypesAhead.key.utf8)
  }
}
