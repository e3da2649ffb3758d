import SwitchboardText

/// The JSON names of a message's fields, ready to be written and to be compared with input.
final class JSONNames: Sendable {
  private struct Key {
    let number: Int32
    /// The range of `"jsonName":` in the text.
    let json: Range<Int>
    /// The range of `"original_name":` in the text.
    let original: Range<Int>
  }

  private let text: [UInt8]
  private let keys: [Key]
  private let numbers: [ExactText: Int32]

  /// Those of no field.
  static let none = JSONNames([])

  /// Names for fields in the order of their numbers.
  init(_ fields: [(number: Int32, name: String, jsonName: String)]) {
    var writer = JSONWriter(options: JSONEncodingOptions())
    var keys: [Key] = []
    var numbers: [ExactText: Int32] = [:]
    func key(_ name: String) -> Range<Int> {
      let start = writer.count
      writer.string(name)
      writer.byte(UInt8(ascii: ":"))
      return start..<writer.count
    }
    for field in fields {
      keys.append(Key(number: field.number, json: key(field.jsonName), original: key(field.name)))
      numbers[field.name] = field.number
    }
    // Last, so that a JSON name that equals another field's original name wins, as in libprotobuf.
    for field in fields { numbers[field.jsonName] = field.number }
    self.keys = keys
    self.numbers = numbers
    text = writer.bytes
  }

  /// Appends the name of a field, in quotes and followed by a colon. `hint` is the index to try first; it is set to the
  /// index of the next field.
  func append(_ number: Int32, original: Bool, hint: inout Int, to writer: inout JSONWriter) {
    while hint < keys.count, keys[hint].number < number { hint += 1 }
    if hint == keys.count || keys[hint].number != number {
      // Members of a oneof may be written out of order.
      hint = keys.firstIndex { $0.number == number } ?? 0
    }
    guard hint < keys.count else { return }
    writer.verbatim(text, in: original ? keys[hint].original : keys[hint].json)
    hint += 1
  }

  /// The field with a name that is written without escapes. `hint` is the index to try first; it is set to the index of
  /// the next field.
  func number(of name: Range<Int>, in bytes: [UInt8], hint: inout Int) -> Int32? {
    // Most writers keep the order of the fields but skip some.
    for index in hint..<min(hint + 8, keys.count) where isEqual(keys[index].json, to: name, in: bytes) {
      hint = index + 1
      return keys[index].number
    }
    let number = numbers[String(decoding: bytes[name], as: UTF8.self)]
    if let number { hint = (keys.firstIndex { $0.number == number } ?? -1) + 1 }
    return number
  }

  /// The field with a name.
  func number(of name: String) -> Int32? { numbers[name] }

  private func isEqual(_ key: Range<Int>, to name: Range<Int>, in bytes: [UInt8]) -> Bool {
    guard key.count == name.count + 3 else { return false }
    for offset in 0..<name.count where text[key.lowerBound + 1 + offset] != bytes[name.lowerBound + offset] {
      return false
    }
    return true
  }
}
