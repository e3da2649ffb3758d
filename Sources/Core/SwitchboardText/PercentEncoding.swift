/// Percent-encoding: of `grpc-message`, of URLs, of baggage.
package enum PercentEncoding {
  // MARK: Writing

  /// Encodes all bytes except those that `isPlain` names.
  package static func encode(_ bytes: some Collection<UInt8>, except isPlain: (UInt8) -> Bool) -> [UInt8] {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count)
    for byte in bytes {
      if isPlain(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), Hex.upper(byte >> 4), Hex.upper(byte & 15)]
      }
    }
    return encoded
  }

  /// Encodes a `grpc-message`. The characters from space to tilde are not escaped, except for the percent sign and for a
  /// space at either end, which HTTP does not allow.
  package static func encode(_ message: String) -> [UInt8] {
    var (index, last) = (0, message.utf8.count - 1)
    return encode(message.utf8) { byte in
      defer { index += 1 }
      let mayBeSpace = index > 0 && index < last
      return (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "%") || byte == 0x20 && mayBeSpace
    }
  }

  // MARK: Reading

  /// Which characters are decoded.
  package enum Decoding: Sendable {
    /// Everything.
    case all
    /// Everything except characters that are reserved in paths, such as `%2F`. A variable of several segments keeps
    /// these encoded, so that they differ from the characters that separate segments.
    case unreserved
    /// Everything, and `+` is a space, as in the queries of HTML forms.
    case form
  }

  /// Decodes text and never fails: a `%` that is not followed by two hexadecimal digits stays as it is.
  package static func decode(_ text: [UInt8], _ decoding: Decoding = .all) -> [UInt8] {
    decode(text[...], decoding)
  }

  package static func decode(_ text: ArraySlice<UInt8>, _ decoding: Decoding) -> [UInt8] {
    decoded(text, decoding, keepsInvalid: true) ?? []
  }

  /// Returns `nil` if an escape is invalid.
  package static func decodeStrictly(_ text: [UInt8], _ decoding: Decoding = .all) -> [UInt8]? {
    decoded(text[...], decoding, keepsInvalid: false)
  }

  private static func decoded(_ text: ArraySlice<UInt8>, _ decoding: Decoding, keepsInvalid: Bool) -> [UInt8]?
  {
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
      } else if byte == UInt8(ascii: "%"), let escaped = escape(in: text, at: index) {
        guard decoding != .unreserved || !isReserved(escaped) else {
          decoded.append(byte)
          continue
        }
        decoded.append(escaped)
        index += 2
      } else if byte == UInt8(ascii: "%"), !keepsInvalid {
        return nil
      } else {
        decoded.append(byte)
      }
    }
    return decoded
  }

  private static func escape(in text: ArraySlice<UInt8>, at index: Int) -> UInt8? {
    guard text.endIndex - index >= 2, let high = Hex.value(text[index]), let low = Hex.value(text[index + 1])
    else { return nil }
    return high << 4 | low
  }

  /// The reserved characters of RFC 6570, which are those of RFC 3986.
  private static func isReserved(_ byte: UInt8) -> Bool { ":/?#[]@!$&'()*+,;=".utf8.contains(byte) }
}
