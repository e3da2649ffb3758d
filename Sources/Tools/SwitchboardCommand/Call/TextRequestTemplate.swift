import SwitchboardProtobuf
import SwitchboardText

/// A request template in protobuf's text format, in which the well-known types are ordinary messages.
struct TextRequestTemplate {
  private(set) var text = ""
  private var shown: Set<String> = []

  init(of type: MessageTable) { writeFields(of: type, depth: 0) }

  private static let mostLevels = 40

  private mutating func writeFields(of type: MessageTable, depth: Int) {
    guard depth < Self.mostLevels, shown.insert(type.fullName).inserted else { return }
    var oneofs: Set<Int> = []
    for field in type.fields where !field.isExtension {
      if let oneof = field.oneof, !oneofs.insert(oneof).inserted { continue }
      let indentation = String(repeating: "  ", count: depth)
      guard let key = field.mapKey else {
        write(Self.name(of: field, type), field, of: type, depth)
        continue
      }
      text += "\(indentation)\(field.name) {\n\(indentation)  key: \(Self.key(key))\n"
      write("value", field, of: type, depth + 1)
      text += "\(indentation)}\n"
    }
  }

  private mutating func write(_ name: String, _ field: TableField, of type: MessageTable, _ depth: Int) {
    let indentation = String(repeating: "  ", count: depth)
    if let message = type.message(of: field) {
      text += "\(indentation)\(name) {\n"
      writeFields(of: message, depth: depth + 1)
      text += "\(indentation)}\n"
    } else {
      text += "\(indentation)\(name): \(Self.scalar(field, type))\n"
    }
  }

  /// A group is named by its type.
  private static func name(of field: TableField, _ type: MessageTable) -> String {
    let group = field.type == .group ? type.message(of: field)?.fullName.split(separator: ".").last : nil
    return group.map(String.init).flatMap { $0.lowercased() == field.name ? $0 : nil } ?? field.name
  }

  /// The default value, which a proto2 field may declare.
  private static func scalar(_ field: TableField, _ type: MessageTable) -> String {
    if let enumeration = type.enumeration(of: field) {
      var number = enumeration.defaultNumber
      if case .enumeration(let other)? = field.defaultValue { number = other }
      return enumeration.name(of: number) ?? "\(number)"
    }
    switch field.defaultValue {
    case .int32(let value)?: return "\(value)"
    case .uint32(let value)?: return "\(value)"
    case .int64(let value)?: return "\(value)"
    case .uint64(let value)?: return "\(value)"
    case .bool(let value)?: return "\(value)"
    case .float(let value)?: return "\(value)"
    case .double(let value)?: return "\(value)"
    case .string(let value)?: return JSONText.string(value)
    default: break
    }
    switch field.type {
    case .string, .bytes: return "\"\""
    case .bool: return "false"
    default: return "0"
    }
  }

  private static func key(_ type: FieldType) -> String {
    switch type {
    case .string: "\"key\""
    case .bool: "true"
    default: "0"
    }
  }
}
