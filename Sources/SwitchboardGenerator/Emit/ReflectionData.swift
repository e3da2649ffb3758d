import SwitchboardDescriptors
import SwitchboardProtobuf

extension FileContext {
  /// An array, as source text, of the descriptors that a reflection service answers with for the file, serialized and in base64: those of all that it
  /// imports come first, its own last. Comments are left out, as reflection has no use for them.
  var reflectionLines: [String] {
    get throws(GeneratorError) {
      var lines = ["["]
      for index in schema.filesReached(from: index) {
        var descriptor = schema.files[index].descriptor
        descriptor.clearSourceCodeInfo()
        do throws(EncodeError) {
          lines.append("  \"\(Base64.encode(try descriptor.serializedBytes()))\",")
        } catch {
          throw GeneratorError("\(descriptor.name): the descriptor cannot be written: \(error)")
        }
      }
      return lines + ["]"]
    }
  }
}

/// Bytes as text that can stand in source code.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// `bytes` in the standard alphabet, padded.
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.enumerated().reduce(0) { $0 | Int($1.element) << (16 - 8 * $1.offset) }
      for digit in 0..<4 {
        text.append(digit <= group.count ? alphabet[bits >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
