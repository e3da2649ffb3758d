/// The percent-encoding of `grpc-message`. The characters from space to tilde are not escaped, except for the percent
/// sign and for a space at either end, which HTTP does not allow.
package enum PercentEncoding {
  package static func encode(_ message: String) -> [UInt8] {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(message.utf8.count)
    for (index, byte) in message.utf8.enumerated() {
      let mayBeSpace = index > 0 && index < message.utf8.count - 1
      if byte > 0x20 || byte == 0x20 && mayBeSpace, byte <= 0x7e, byte != UInt8(ascii: "%") {
        encoded.append(byte)
      } else {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(hexDigit(byte >> 4))
        encoded.append(hexDigit(byte & 0xf))
      }
    }
    return encoded
  }

  /// Decodes a message and never fails: invalid escapes are kept, as the specification requires.
  package static func decode(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: decoded(bytes, keepsInvalid: true) ?? [], as: UTF8.self)
  }

  /// Decodes the credentials of a URL. Returns `nil` if an escape is invalid.
  package static func decodeStrictly(_ bytes: some Collection<UInt8>) -> [UInt8]? {
    decoded(bytes, keepsInvalid: false)
  }

  private static func decoded(_ bytes: some Collection<UInt8>, keepsInvalid: Bool) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = Array(bytes)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let escaped = escape(in: rest) {
        decoded.append(escaped)
        rest = rest.dropFirst(2)
      } else if byte == UInt8(ascii: "%"), !keepsInvalid {
        return nil
      } else {
        decoded.append(byte)
      }
    }
    return decoded
  }

  private static func escape(in rest: ArraySlice<UInt8>) -> UInt8? {
    guard rest.count >= 2, let high = digit(rest[rest.startIndex]), let low = digit(rest[rest.startIndex + 1])
    else { return nil }
    return high << 4 | low
  }

  private static func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
  }

  /// The value of a hexadecimal digit.
  package static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
