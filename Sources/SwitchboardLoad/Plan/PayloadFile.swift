/// Several payloads in one text: JSON objects, one after the other or in an array.
package enum PayloadFile {
  /// The most payloads of a file.
  package static let limit = 100_000

  /// The objects of a text, which may be templates: it only looks for where each ends.
  package static func payloads(in text: String) throws(PayloadError) -> [String] {
    let bytes = Array(text.utf8)
    var payloads: [String] = []
    var (start, depth, line) = (0, 0, 1)
    var (isInString, isEscaped, isInArray, isAfterArray) = (false, false, false, false)
    for (place, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "\n") { line += 1 }
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        guard depth > 0 else { throw unexpected(byte, line) }
        isInString = true
      case UInt8(ascii: "{"):
        guard !isAfterArray else { throw unexpected(byte, line) }
        if depth == 0 { start = place }
        depth += 1
      case UInt8(ascii: "}"):
        guard depth > 0 else { throw unexpected(byte, line) }
        depth -= 1
        guard depth == 0 else { continue }
        guard payloads.count < limit else { throw PayloadError("there are more than \(limit) payloads") }
        payloads.append(String(decoding: bytes[start...place], as: UTF8.self))
      case UInt8(ascii: "[") where depth == 0:
        guard payloads.isEmpty, !isInArray, !isAfterArray else { throw unexpected(byte, line) }
        isInArray = true
      case UInt8(ascii: "]") where depth == 0:
        guard isInArray else { throw unexpected(byte, line) }
        (isInArray, isAfterArray) = (false, true)
      case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        break
      default:
        guard depth > 0 else { throw unexpected(byte, line) }
      }
    }
    guard depth == 0, !isInArray else { throw PayloadError("the last payload is not closed") }
    guard !payloads.isEmpty else { throw PayloadError("there is no payload: expected JSON objects") }
    return payloads
  }

  private static func unexpected(_ byte: UInt8, _ line: Int) -> PayloadError {
    let shown = byte > 0x20 && byte < 0x7f ? "'\(Character(Unicode.Scalar(byte)))'" : "a byte \(byte)"
    return PayloadError("line \(line): unexpected \(shown): expected JSON objects")
  }
}
