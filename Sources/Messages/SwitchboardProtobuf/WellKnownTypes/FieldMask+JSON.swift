import SwitchboardText

// In JSON: one string with the paths in camel case, separated by commas.
extension Google_Protobuf_FieldMask: CustomJSON {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    let token = try decoder.reader.stringToken()
    let text = try decoder.reader.text(of: token)
    if text.isEmpty { return }
    for path in text.parts(separatedBy: ",") {
      guard let path = FieldMaskPath.snakeCase(path) else {
        throw decoder.reader.fail("\"\(path)\" is not a path in camel case", at: token.range.lowerBound - 1)
      }
      paths.append(path)
    }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    var names: [String] = []
    for path in paths {
      guard let name = FieldMaskPath.camelCase(path) else {
        throw EncodeError(.unrepresentable("\"\(path)\" in a FieldMask would be read back as another path"))
      }
      names.append(name)
    }
    encoder.writer.string(names.joined(separator: ","))
  }
}

/// The two spellings of a path in a field mask.
enum FieldMaskPath {
  /// `user.display_name` to `user.displayName`. Nil if converting back gives another path.
  static func camelCase(_ path: String) -> String? {
    var result: [UInt8] = []
    var startsWord = false
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "_"):
        guard !startsWord else { return nil }
        startsWord = true
        continue
      case UInt8(ascii: "a")...UInt8(ascii: "z"): result.append(startsWord ? byte - 0x20 : byte)
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
        guard !startsWord else { return nil }
        result.append(byte)
      default: return nil
      }
      startsWord = false
    }
    return startsWord || result.isEmpty ? nil : String(decoding: result, as: UTF8.self)
  }

  /// `user.displayName` to `user.display_name`. Nil if it contains anything but letters, digits and dots.
  static func snakeCase(_ path: Substring) -> String? {
    var result: [UInt8] = []
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): result += [UInt8(ascii: "_"), byte + 0x20]
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
        result.append(byte)
      default: return nil
      }
    }
    return result.isEmpty ? nil : String(decoding: result, as: UTF8.self)
  }
}
