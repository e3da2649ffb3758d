import SwitchboardCall
import SwitchboardText

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Encodings of bytes as text, in header fields and in the bodies of gRPC-Web.
enum EncodingTargets {
  static func run(_ input: [UInt8]) throws {
    try percent(input)
    try base64(input)
    try text(input)
  }

  private static func percent(_ input: [UInt8]) throws {
    let message = String(decoding: PercentEncoding.decode(input), as: UTF8.self)
    let encoded = PercentEncoding.encode(message)
    try BrokenPromise.unless(
      encoded.allSatisfy { (0x20...0x7e).contains($0) },
      "\(encoded) is not a valid field"
    )
    let again = PercentEncoding.decode(encoded)
    try BrokenPromise.unless(again.elementsEqual(message.utf8), "percent-encoding changes \(message)")
  }

  private static func base64(_ input: [UInt8]) throws {
    let again = Base64.decode(Base64.encode(input))
    try BrokenPromise.unless(again == input, "base64 changes \(input)")
    try BrokenPromise.unless(
      Base64.decodeEither(Base64.padded(input)[...]) == input,
      "padded base64 changes \(input)"
    )
    for decoded in [Base64.decode(input), Base64.decodeEither(input[...])].compactMap(\.self) {
      try BrokenPromise.unless(decoded.count <= input.count * 3 / 4, "\(input) decodes to too many bytes")
    }
  }

  /// Decoding pieces of any size gives the same as decoding the whole, and encoded bytes can be decoded.
  private static func text(_ input: [UInt8]) throws {
    let whole = decoded(input, pieces: max(1, input.count))
    for size in [1, 3, 4] {
      try BrokenPromise.unless(
        decoded(input, pieces: size) == whole,
        "pieces of \(size) give different bytes"
      )
    }
    var written: [UInt8] = []
    for piece in [input.prefix(1), input.dropFirst()] { written += Base64.padded(piece) }
    try BrokenPromise.unless(decoded(written, pieces: 5) == input, "base64 of a page changes \(input)")
  }

  private static func decoded(_ text: [UInt8], pieces size: Int) -> [UInt8]? {
    var decoder = Base64Decoder()
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: text.count, by: size) {
      let piece = text[start..<min(text.count, start + size)]
      guard let decoded = piece.withUnsafeBytes({ decoder.decode($0) }) else { return nil }
      bytes += decoded
    }
    return decoder.isInsideGroup ? nil : bytes
  }
}
