import SwitchboardHTTPRules
import SwitchboardOpenAPI
import SwitchboardProtobuf

/// A field of a message or of a nested message, which a path variable or a query parameter names. An object, because the
/// fields have many parts to copy.
final class FieldPath: Sendable {
  /// The message fields from the outside in, and the field itself at the end.
  let fields: [TableField]
  /// For each of the fields, the other members of its oneof.
  fileprivate let rivals: [[TableField]]
  let field: TableField
  let form: TextForm

  /// The names of the fields, as in the `.proto`: `page.size`.
  var name: String { fields.map(\.name).joined(separator: ".") }

  /// The deepest nesting; the same limit as for JSON.
  static let maximumDepth = 100

  /// Looks up each name as in JSON. `nil` if there is no such field, or if its value cannot be written as text.
  init?(_ names: [String], in type: MessageTable) {
    guard names.count <= FieldPath.maximumDepth else { return nil }
    var fields: [TableField] = []
    var rivals: [[TableField]] = []
    var type = type
    for (index, name) in names.enumerated() {
      guard let field = type.field(inJSON: name) else { return nil }
      fields.append(field)
      rivals.append(
        field.oneof.map { oneof in type.fields.filter { $0.oneof == oneof && $0 != field } } ?? []
      )
      guard index < names.count - 1 else { break }
      guard !field.isRepeated, let next = type.message(of: field), HTTPBinding.isObject(next.fullName) else {
        return nil
      }
      type = next
    }
    guard let field = fields.last, let form = TextForm(field, in: type) else { return nil }
    self.fields = fields
    self.rivals = rivals
    self.field = field
    self.form = form
  }
}

/// How the value of a field is written in text, without the quotes that JSON needs.
enum TextForm: Sendable {
  /// Any text.
  case string
  /// Text that JSON writes, or may write, in quotes.
  case quoted
  /// `true` or `false`, which may also be given as `1`, `yes` and the like.
  case bool
  /// An integer. Unlike in JSON, leading zeros are allowed.
  case integer
  /// The name of a value, or its number.
  case enumeration

  /// `nil` for maps, and for messages without a special JSON form.
  init?(_ field: TableField, in type: MessageTable) {
    guard field.mapKey == nil else { return nil }
    switch field.type {
    case .string: self = .string
    case .bool: self = .bool
    case .enumeration: self = .enumeration
    case .int32, .int64, .uint32, .uint64, .sint32, .sint64, .fixed32, .fixed64, .sfixed32, .sfixed64:
      self = .integer
    case .message:
      guard let form = TextForm(message: type.message(of: field)?.fullName ?? "") else { return nil }
      self = form
    case .group: return nil
    default: self = .quoted
    }
  }

  private init?(message name: String) {
    switch name {
    case "google.protobuf.BoolValue": self = .bool
    case "google.protobuf.Int32Value", "google.protobuf.UInt32Value", "google.protobuf.Int64Value",
      "google.protobuf.UInt64Value":
      self = .integer
    case _ where HTTPBinding.isText(name): self = .quoted
    default: return nil
    }
  }

  /// Converts a value to JSON.
  func json(_ text: [UInt8]) -> [UInt8] {
    switch self {
    case .bool: return Self.bool(text)
    case .enumeration where !text.isEmpty && text.allSatisfy(Self.isOfNumber): return Self.withoutZeros(text)
    case .integer where text.allSatisfy(Self.isOfNumber): return Self.quoted(Self.withoutZeros(text))
    case .string, .quoted, .enumeration, .integer: return Self.quoted(text)
    }
  }

  private static func bool(_ text: [UInt8]) -> [UInt8] {
    let lower = String(
      decoding: text.prefix(8).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 },
      as: UTF8.self
    )
    return switch lower {
    case "true", "t", "yes", "y", "1": Array("true".utf8)
    case "false", "f", "no", "n", "0": Array("false".utf8)
    // A quoted string, which the JSON reader rejects.
    default: quoted(text)
    }
  }

  private static func withoutZeros(_ text: [UInt8]) -> [UInt8] {
    let digits = text.drop { $0 == UInt8(ascii: "-") }
    guard text.count - digits.count < 2, digits.count > 1 else { return text }
    let rest = digits.dropLast().drop { $0 == UInt8(ascii: "0") } + digits.suffix(1)
    return Array(text.prefix(text.count - digits.count) + rest)
  }

  private static func quoted(_ text: [UInt8]) -> [UInt8] {
    var json = [UInt8(ascii: "\"")]
    json.reserveCapacity(text.count + 2)
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: json += Array("\\u00".utf8) + [digit(byte >> 4), digit(byte & 15)]
      default: json.append(byte)
      }
    }
    json.append(UInt8(ascii: "\""))
    return json
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension DynamicMessage {
  /// Parses `text` and sets the field to that value; appends it if the field is repeated.
  mutating func set(_ path: FieldPath, to text: [UInt8]) throws(DecodeError) {
    try set(path, from: 0, to: text)
  }

  private mutating func set(_ path: FieldPath, from index: Int, to text: [UInt8]) throws(DecodeError) {
    for rival in path.rivals[index] where has(rival.name) {
      // It would be lost.
      let name = path.fields[index].name
      throw DecodeError(.malformed("\(rival.name), of the same oneof as \(name), is already set"))
    }
    guard index < path.fields.count - 1 else { return try setLast(path, to: text) }
    var failure: DecodeError?
    do throws(DynamicFieldError) {
      try modify(path.fields[index].name) { message throws(DynamicFieldError) in
        do throws(DecodeError) {
          try message.set(path, from: index + 1, to: text)
        } catch {
          failure = error
        }
      }
    } catch {
      throw DecodeError(.malformed(error.description))
    }
    if let failure { throw failure }
  }

  /// Makes a field unset.
  mutating func clear(_ path: FieldPath) throws(DynamicFieldError) { try clear(path.fields[...]) }

  private mutating func clear(_ way: ArraySlice<TableField>) throws(DynamicFieldError) {
    guard let field = way.first, has(field.name) else { return }
    guard way.count > 1 else { return try clear(field.name) }
    try modify(field.name) { message throws(DynamicFieldError) in try message.clear(way.dropFirst()) }
  }

  private mutating func setLast(_ path: FieldPath, to text: [UInt8]) throws(DecodeError) {
    if !path.field.isRepeated {
      // If it occurs twice, the last value counts.
      do throws(DynamicFieldError) {
        if path.form == .string {
          // The JSON reader refuses other bytes.
          if let text = try? UTF8Span(validating: text.span) {
            return try set(path.field, to: .string(String(copying: text)))
          }
        }
        try clear(path.field.name)
      } catch {
        throw DecodeError(.malformed(error.description))
      }
      return try mergeField(path.field, jsonUTF8Bytes: path.form.json(text))
    }
    try mergeField(
      path.field,
      jsonUTF8Bytes: [UInt8(ascii: "[")] + path.form.json(text) + [UInt8(ascii: "]")]
    )
  }
}
