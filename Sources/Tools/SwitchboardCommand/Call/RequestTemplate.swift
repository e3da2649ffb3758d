import SwitchboardProtobuf
import SwitchboardText

/// A template of a message with all its fields, for a user to fill in.
///
/// It has the first member of each oneof. A message type that occurs again is left empty, so that a template is not
/// larger than its schema.
struct RequestTemplate {
  private(set) var text = ""
  private var shown: Set<String> = []

  init(of type: MessageTable) { write(type, depth: 0) }

  private static let mostLevels = 40

  private mutating func write(_ type: MessageTable, depth: Int) {
    if let special = Self.wellKnown[type.fullName] {
      text += special
      return
    }
    guard depth < Self.mostLevels, shown.insert(type.fullName).inserted else {
      text += "{}"
      return
    }
    text += "{"
    var isFirst = true
    var oneofs: Set<Int> = []
    for field in type.fields where !field.isExtension {
      if let oneof = field.oneof, !oneofs.insert(oneof).inserted { continue }
      text += (isFirst ? "" : ", ") + JSONText.string(field.jsonName) + ": "
      isFirst = false
      if let key = field.mapKey {
        text += "{\(Self.key(key)): "
        write(field, of: type, depth)
        text += "}"
      } else if field.isRepeated {
        text += "["
        write(field, of: type, depth)
        text += "]"
      } else {
        write(field, of: type, depth)
      }
    }
    text += "}"
  }

  private mutating func write(_ field: TableField, of type: MessageTable, _ depth: Int) {
    if let message = type.message(of: field) { return write(message, depth: depth + 1) }
    text += Self.scalar(field, type)
  }

  /// The default value, which a proto2 field may declare.
  private static func scalar(_ field: TableField, _ type: MessageTable) -> String {
    switch field.defaultValue ?? .int32(0) {
    case .int32(let value): return field.isRepeated ? zero(field, type) : "\(value)"
    case .uint32(let value): return "\(value)"
    case .int64(let value): return "\"\(value)\""
    case .uint64(let value): return "\"\(value)\""
    case .bool(let value): return "\(value)"
    case .float(let value) where value.isFinite: return "\(value)"
    case .double(let value) where value.isFinite: return "\(value)"
    case .string(let value): return JSONText.string(value)
    case .bytes(let value): return "\"\(Base64Argument.encode(value))\""
    case .enumeration(let number):
      let name = type.enumeration(of: field)?.name(of: number)
      return name.map { JSONText.string($0) } ?? "\(number)"
    default: return zero(field, type)
    }
  }

  private static func zero(_ field: TableField, _ type: MessageTable) -> String {
    switch field.type {
    case .string, .bytes: return "\"\""
    case .bool: return "false"
    case .int64, .uint64, .sint64, .fixed64, .sfixed64: return "\"0\""
    case .enumeration:
      guard let type = type.enumeration(of: field) else { return "0" }
      return type.name(of: type.defaultNumber).map { JSONText.string($0) } ?? "\(type.defaultNumber)"
    default: return "0"
    }
  }

  private static func key(_ type: FieldType) -> String {
    switch type {
    case .string: "\"key\""
    case .bool: "\"true\""
    default: "\"0\""
    }
  }

  /// The JSON of types with a special JSON form.
  private static let wellKnown = [
    "google.protobuf.Timestamp": "\"1970-01-01T00:00:00Z\"",
    "google.protobuf.Duration": "\"0s\"",
    "google.protobuf.FieldMask": "\"\"",
    "google.protobuf.Struct": "{}",
    "google.protobuf.Value": "null",
    "google.protobuf.ListValue": "[]",
    "google.protobuf.Any": "{}",
    "google.protobuf.Empty": "{}",
    "google.protobuf.BoolValue": "false",
    "google.protobuf.StringValue": "\"\"",
    "google.protobuf.BytesValue": "\"\"",
    "google.protobuf.Int32Value": "0",
    "google.protobuf.UInt32Value": "0",
    "google.protobuf.Int64Value": "\"0\"",
    "google.protobuf.UInt64Value": "\"0\"",
    "google.protobuf.FloatValue": "0",
    "google.protobuf.DoubleValue": "0",
  ]
}
