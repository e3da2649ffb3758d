import SwitchboardText

/// The names of a message's fields, for formats that write names, and for errors.
///
/// A class, so that generated code passes only a reference.
public final class FieldNames: Sendable {
  private struct Entry {
    let name: String
    let jsonName: String
    let textName: String
  }

  private let byNumber: [Int32: Entry]
  private let byTextName: [ExactText: Int32]
  private let reserved: Set<ExactText>

  /// The names in the form that JSON reads and writes.
  let json: JSONNames

  /// Parses the compact form that the generator emits: `number:name`, `number:name:jsonName` or
  /// `number:name:jsonName:textName`, separated by spaces. A JSON name that is omitted or empty is the lower-camel-case
  /// form of the name; in others, bytes except letters, digits and `_` are written as `%` and two hexadecimal digits.
  /// Number 0, which no field has, precedes the reserved names of the message: `0:name:name`.
  public init(_ compact: StaticString) {
    var byNumber: [Int32: Entry] = [:]
    var byTextName: [ExactText: Int32] = [:]
    var reserved: Set<ExactText> = []
    for field in CompactNames.entries(of: compact) {
      guard field.number != 0 else {
        reserved.formUnion(field.parts.map(ExactText.init))
        continue
      }
      let name = field.parts.first ?? ""
      let given = field.parts.count > 1 ? CompactNames.unescape(field.parts[1]) : ""
      let jsonName = given.isEmpty ? FieldNames.lowerCamelCase(name) : given
      let textName = field.parts.count > 2 ? field.parts[2] : name
      byNumber[field.number] = Entry(name: name, jsonName: jsonName, textName: textName)
      byTextName[name] = field.number
      byTextName[textName] = field.number
    }
    json = JSONNames(
      byNumber.sorted { $0.key < $1.key }.map { ($0.key, $0.value.name, $0.value.jsonName) }
    )
    self.byNumber = byNumber
    self.byTextName = byTextName
    self.reserved = reserved
  }

  /// The names of fields in the order of their numbers, of a message that was described at run time.
  init(_ fields: [TableSchema.Field], reserved: [String]) {
    var byNumber: [Int32: Entry] = [:]
    var byTextName: [ExactText: Int32] = [:]
    for field in fields {
      let textName = field.textName ?? field.name
      byNumber[field.number] = Entry(name: field.name, jsonName: field.jsonName, textName: textName)
      byTextName[field.name] = field.number
    }
    for field in fields { byTextName[field.textName ?? field.name] = field.number }
    json = JSONNames(fields.map { ($0.number, $0.name, $0.jsonName) })
    self.byNumber = byNumber
    self.byTextName = byTextName
    self.reserved = Set(reserved.map(ExactText.init))
  }

  /// The name in the `.proto` file, or the number if the type has no such field.
  public func name(of number: Int32) -> String { byNumber[number]?.name ?? "\(number)" }

  /// The names in the `.proto` file, in the order of the numbers.
  var names: [String] { byNumber.sorted { $0.key < $1.key }.map(\.value.name) }

  /// The field for a name in the `.proto` file.
  func number(ofName name: String) -> Int32? {
    guard let number = byTextName[name] else { return nil }
    // Another field, a group, may have the same name in the text format; only then is a search necessary.
    if byNumber[number]?.name.isExactly(name) == true { return number }
    return byNumber.first { $0.value.name.isExactly(name) }?.key
  }

  /// The JSON name.
  func jsonName(of number: Int32) -> String? { byNumber[number]?.jsonName }

  /// The name in the text format; for a group, the name of its type.
  func textName(of number: Int32) -> String? { byNumber[number]?.textName }

  /// The field with a JSON name or an original name.
  func number(ofJSONName name: String) -> Int32? { json.number(of: name) }

  /// The field with a name in the text format.
  func number(ofTextName name: String) -> Int32? { byTextName[name] }

  /// Whether the message reserves a name: the text format skips such a field, which comes from an older schema.
  func reserves(_ name: String) -> Bool { reserved.contains(name) }

  /// `customer_name` to `customerName`.
  package static func lowerCamelCase(_ name: String) -> String {
    var result: [UInt8] = []
    var startsWord = false
    for byte in name.utf8 {
      if byte == UInt8(ascii: "_") {
        startsWord = true
      } else {
        let isLowercase = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
        result.append(startsWord && isLowercase ? byte - 0x20 : byte)
        startsWord = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
