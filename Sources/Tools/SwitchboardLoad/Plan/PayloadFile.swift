import SwitchboardProtobuf

/// Several payloads in one text: JSON objects, one after the other or in an array.
package enum PayloadFile {
  /// The most payloads of a file.
  package static let limit = 100_000

  /// Splits a text into JSON objects. They may be templates, so only the end of each is looked for.
  package static func payloads(in text: String) throws(PayloadError) -> [String] {
    let bytes = Array(text.utf8)
    var payloads: [String] = []
    var (start, line) = (0, 1)
    var (isInArray, isAfterArray) = (false, false)
    var object: JSONValueScanner?
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "\n") { line += 1 }
      guard object == nil else {
        guard object?.isLast(byte) == true else { continue }
        guard payloads.count < limit else { throw PayloadError("there are more than \(limit) payloads") }
        payloads.append(String(decoding: bytes[start...index], as: UTF8.self))
        object = nil
        continue
      }
      switch byte {
      case UInt8(ascii: "{"):
        guard !isAfterArray else { throw unexpected(byte, line) }
        object = JSONValueScanner(first: byte)
        start = index
      case UInt8(ascii: "["):
        guard payloads.isEmpty, !isInArray, !isAfterArray else { throw unexpected(byte, line) }
        isInArray = true
      case UInt8(ascii: "]"):
        guard isInArray else { throw unexpected(byte, line) }
        (isInArray, isAfterArray) = (false, true)
      case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        break
      default:
        throw unexpected(byte, line)
      }
    }
    guard object == nil, !isInArray else { throw PayloadError("the last payload is not closed") }
    guard !payloads.isEmpty else { throw PayloadError("there is no payload: expected JSON objects") }
    return payloads
  }

  private static func unexpected(_ byte: UInt8, _ line: Int) -> PayloadError {
    let shown = byte > 0x20 && byte < 0x7f ? "'\(Character(Unicode.Scalar(byte)))'" : "a byte \(byte)"
    return PayloadError("line \(line): unexpected \(shown): expected JSON objects")
  }
}
