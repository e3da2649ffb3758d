/// What was meant by a request that is no JSON, or no object: it may be written as other tools or languages write it.
enum JSONHint {
  /// The hints for a request that could not be read; none if it looks like JSON.
  static func hints(for request: some Collection<UInt8>) -> [ShownText] {
    let rest = request.drop { $0 <= 0x20 }
    switch rest.first {
    case UInt8(ascii: "["), UInt8(ascii: ","): return [separateObjects]
    case UInt8(ascii: "{"): return quotesName(rest.dropFirst()) ? [] : [doubleQuotes]
    default: return []
    }
  }

  private static let separateObjects: ShownText =
    """
    Requests are JSON objects, one after the other and not in an array, such as '{"a": 1} {"a": 2}'; a method without a \
    stream of requests takes one.
    """
  private static let doubleQuotes: ShownText =
    "Names and texts in JSON are in double quotes, such as '{\"name\": \"Ada\"}'."

  /// Whether an object goes on as one does: it ends, or has a name in quotes.
  private static func quotesName(_ object: some Collection<UInt8>) -> Bool {
    object.first { $0 > 0x20 }.map { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "}") } ?? true
  }
}
