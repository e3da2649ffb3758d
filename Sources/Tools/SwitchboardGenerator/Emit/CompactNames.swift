import SwitchboardText

/// Names in the compact form that the message runtime reads.
enum CompactNames {
  /// The name of a field, followed by its names in JSON and in the text format where they are not the default.
  static func names(of field: FieldSchema) -> String {
    var names = field.name
    if field.jsonName != nil || field.textName != nil { names += ":" + escape(field.jsonName ?? "") }
    if let text = field.textName { names += ":" + text }
    return names
  }

  /// The names that a message reserves, after number 0; nil if there are none.
  static func reserved(in message: MessageSchema) -> String? {
    // Some versions of protoc accept reserved names that are not identifiers; no text can contain those as names.
    let reserved = message.descriptor.reservedName.filter { name in
      !name.isEmpty && name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
    return reserved.isEmpty ? nil : "0:" + reserved.joined(separator: ":")
  }

  /// The names of an enum's values.
  static func valueNames(of values: [EnumValueSchema]) -> String {
    let entries = values.map { "\($0.number):\($0.name)" }
    return "\(FileContext.runtime("EnumNames"))(\"\(entries.joined(separator: " "))\")"
  }

  /// Writes bytes other than letters, digits and `_` as `%` and two hexadecimal digits.
  private static func escape(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in text.utf8 {
      if byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
