import SwitchboardProtobuf

/// Makes example messages in which each field has a value. That of a string is the name of the field.
struct ExampleMessage {
  /// A type may contain itself, and each level may have many fields.
  private static let depthLimit = 4
  private static let fieldLimit = 400

  private var fieldsLeft = fieldLimit

  static func of(_ type: MessageTable) -> DynamicMessage {
    var maker = ExampleMessage()
    return maker.message(type, depth: 0)
  }

  private mutating func message(_ type: MessageTable, depth: Int) -> DynamicMessage {
    var message = DynamicMessage(type)
    var oneofs: Set<Int> = []
    for field in type.fields where !field.isExtension && fieldsLeft > 0 {
      // Set only the first member of a oneof.
      if let oneof = field.oneof, !oneofs.insert(oneof).inserted { continue }
      fieldsLeft -= 1
      guard let value = self.value(field, of: type, depth: depth) else { continue }
      let whole: DynamicValue =
        if let key = field.mapKey { .map([Self.key(key): value]) } else if field.isRepeated {
          .list([value])
        } else { value }
      // The value matches the field's type. If the message rejects it all the same, the field stays unset.
      try? message.set(field.name, to: whole)
    }
    return message
  }

  private mutating func value(_ field: TableField, of type: MessageTable, depth: Int) -> DynamicValue? {
    switch field.type {
    case .int32, .sint32, .sfixed32: .int32(1)
    case .int64, .sint64, .sfixed64: .int64(1)
    case .uint32, .fixed32: .uint32(1)
    case .uint64, .fixed64: .uint64(1)
    case .float: .float(1.5)
    case .double: .double(1.5)
    case .bool: .bool(true)
    case .string: .string(field.name)
    case .bytes: .bytes(Array(field.name.utf8))
    case .enumeration: type.enumeration(of: field).map { .enumeration(Self.number($0)) }
    case .message, .group: inner(field, of: type, depth: depth)
    }
  }

  private mutating func inner(_ field: TableField, of type: MessageTable, depth: Int) -> DynamicValue? {
    guard depth < Self.depthLimit, let inner = type.message(of: field) else { return nil }
    switch inner.fullName {
    case "google.protobuf.Any", "google.protobuf.Value", "google.protobuf.Struct",
      "google.protobuf.ListValue",
      "google.protobuf.FieldMask":
      // The fields of these types do not determine which values are valid.
      return nil
    case "google.protobuf.Timestamp":
      var time = DynamicMessage(inner)
      try? time.set("seconds", to: .int64(1_767_225_600))  // 2026-01-01
      return .message(time)
    case "google.protobuf.Duration":
      var duration = DynamicMessage(inner)
      try? duration.set("seconds", to: .int64(90))
      return .message(duration)
    default: return .message(message(inner, depth: depth + 1))
    }
  }

  /// The first small number with a name, other than zero.
  private static func number(_ type: EnumTable) -> Int32 {
    (1...16).first { type.name(of: $0) != nil } ?? type.defaultNumber
  }

  private static func key(_ type: FieldType) -> DynamicValue {
    switch type {
    case .int32, .sint32, .sfixed32: .int32(1)
    case .int64, .sint64, .sfixed64: .int64(1)
    case .uint32, .fixed32: .uint32(1)
    case .uint64, .fixed64: .uint64(1)
    case .bool: .bool(true)
    default: .string("key")
    }
  }
}
