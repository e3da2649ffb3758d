import Switchboard
import SwitchboardHTTP2

/// Percent-encoding in paths and queries.
enum PercentText {
  /// Which characters are decoded.
  enum Decoding {
    /// Everything.
    case all
    /// Everything except characters that are reserved in paths, such as `%2F`. A variable of several segments keeps
    /// these encoded, so that they differ from the characters that separate segments.
    case unreserved
    /// Everything, and `+` is a space, as in the queries of HTML forms.
    case form
  }

  /// Decodes `text`. A `%` that is not followed by two hexadecimal digits stays as it is.
  static func decode(_ text: ArraySlice<UInt8>, _ decoding: Decoding) -> [UInt8] {
    guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return Array(text)
    }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      index += 1
      if byte == UInt8(ascii: "+"), decoding == .form {
        decoded.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), index + 1 < text.endIndex,
        let high = PercentEncoding.digit(text[index]),
        let low = PercentEncoding.digit(text[index + 1]),
        decoding != .unreserved || !isReserved(high << 4 | low)
      {
        decoded.append(high << 4 | low)
        index += 2
      } else {
        decoded.append(byte)
      }
    }
    return decoded
  }

  /// The reserved characters of RFC 6570, which are those of RFC 3986.
  private static func isReserved(_ byte: UInt8) -> Bool { ":/?#[]@!$&'()*+,;=".utf8.contains(byte) }
}
