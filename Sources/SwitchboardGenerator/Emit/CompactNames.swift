/// Names in the compact form that the message runtime reads.
enum CompactNames {
  /// The names of a message's fields, and after number 0 the names that it reserves.
  static func fieldNames(of message: MessageSchema) -> String {
    var entries = message.fields.map { field in
      var entry = "\(field.number):\(field.name)"
      if field.jsonName != nil || field.textName != nil { entry += ":" + escape(field.jsonName ?? "") }
      if let text = field.textName { entry += ":" + text }
      return entry
    }
    // Some versions of protoc accept reserved names that are not identifiers; no text can contain those as names.
    let reserved = message.descriptor.reservedName.filter { name in
      !name.isEmpty && name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
    if !reserved.isEmpty { entries.append("0:" + reserved.joined(separator: ":")) }
    return "\(FileContext.runtime("FieldNames"))(\"\(entries.joined(separator: " "))\")"
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
