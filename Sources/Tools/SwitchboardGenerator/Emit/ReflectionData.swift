extension FileContext {
  /// The source text of an array with the descriptors for reflection, serialized and in Base64: first those of all
  /// imports, then that of the file. Comments are omitted, because reflection does not use them.
  var reflectionLines: [String] {
    let descriptors = schema.filesReached(from: index).map { schema.files[$0].descriptor.encoded.joined() }
    return ["["] + descriptors.map { "  \"\(ReflectionData.base64(Array($0)))\"," } + ["]"]
  }
}

/// The form of descriptors in source text.
private enum ReflectionData {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for position in 0..<4 {
        text.append(position <= group.count ? digits[bits >> (18 - 6 * position) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
