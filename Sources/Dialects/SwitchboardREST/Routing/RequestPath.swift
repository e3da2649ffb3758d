/// The path of a request, split at its slashes. Nothing is decoded yet, and `.` and `..` are ordinary segments.
struct RequestPath: Equatable {
  /// The path, without the query.
  let bytes: ArraySlice<UInt8>
  /// The segments, as ranges of the bytes.
  var segments: [Range<Int>] = []

  /// `nil` if the path does not start with a slash, as in `OPTIONS *`. Trailing slashes are dropped.
  init?(_ path: ArraySlice<UInt8>) {
    guard path.first == UInt8(ascii: "/") else { return nil }
    bytes = path
    var (start, end) = (path.startIndex, path.endIndex)
    while end > start, path[end - 1] == UInt8(ascii: "/") { end -= 1 }
    guard end > start else { return }
    segments.reserveCapacity(Self.usualCount)
    start += 1
    for index in start..<end where path[index] == UInt8(ascii: "/") {
      segments.append(start..<index)
      start = index + 1
    }
    segments.append(start..<end)
  }

  private static let usualCount = 6

  /// The custom verb: the text after the last colon of the last segment.
  var verb: [UInt8]? {
    guard let last = segments.last, let colon = bytes[last].lastIndex(of: UInt8(ascii: ":")) else {
      return nil
    }
    return Array(bytes[(colon + 1)..<last.upperBound])
  }

  mutating func dropVerb(_ verb: [UInt8]) {
    guard let last = segments.popLast() else { return }
    segments.append(last.lowerBound..<(last.upperBound - verb.count - 1))
  }

  /// The text that a variable matches. `range` counts the template's segments; `isOpen` says whether the variable ends
  /// with `**`.
  func text(of range: Range<Int>, isOpen: Bool) -> ArraySlice<UInt8> {
    let end = isOpen ? segments.count : min(range.upperBound, segments.count)
    guard range.lowerBound < end else { return [] }
    return bytes[segments[range.lowerBound].lowerBound..<segments[end - 1].upperBound]
  }
}
