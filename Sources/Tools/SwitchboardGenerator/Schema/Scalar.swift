import SwitchboardSchema

/// A scalar type: its encoding and its Swift type.
enum Scalar: String, CaseIterable {
  case double = "ProtoDouble"
  case float = "ProtoFloat"
  case int64 = "ProtoInt64"
  case uint64 = "ProtoUInt64"
  case int32 = "ProtoInt32"
  case fixed64 = "ProtoFixed64"
  case fixed32 = "ProtoFixed32"
  case bool = "ProtoBool"
  case string = "ProtoString"
  case uncheckedString = "ProtoUncheckedString"
  case bytes = "ProtoBytes"
  case uint32 = "ProtoUInt32"
  case sfixed32 = "ProtoSFixed32"
  case sfixed64 = "ProtoSFixed64"
  case sint32 = "ProtoSInt32"
  case sint64 = "ProtoSInt64"

  /// The scalar of a field, or nil for messages and enums.
  init?(_ type: FieldDescriptor.Kind, _ features: Features) {
    switch type {
    case .double: self = .double
    case .float: self = .float
    case .int64: self = .int64
    case .uint64: self = .uint64
    case .int32: self = .int32
    case .fixed64: self = .fixed64
    case .fixed32: self = .fixed32
    case .bool: self = .bool
    case .string: self = features.utf8Validation == .none ? .uncheckedString : .string
    case .bytes: self = .bytes
    case .uint32: self = .uint32
    case .sfixed32: self = .sfixed32
    case .sfixed64: self = .sfixed64
    case .sint32: self = .sint32
    case .sint64: self = .sint64
    case .group, .message, .enum: return nil
    }
  }

  /// The runtime type that reads and writes the values.
  var protoName: String { rawValue }

  /// The type of the values.
  var swiftName: String {
    switch self {
    case .double: "Double"
    case .float: "Float"
    case .int64, .sfixed64, .sint64: "Int64"
    case .uint64, .fixed64: "UInt64"
    case .int32, .sfixed32, .sint32: "Int32"
    case .uint32, .fixed32: "UInt32"
    case .bool: "Bool"
    case .string, .uncheckedString: "String"
    case .bytes: "[UInt8]"
    }
  }

  /// The value of a field that is not set and declares no default.
  var zero: String {
    switch self {
    case .bool: "false"
    case .string, .uncheckedString: "\"\""
    case .bytes: "[]"
    default: "0"
    }
  }

  /// The bytes that a value takes in an object.
  var width: Int {
    switch swiftName {
    case "Bool": 1
    case "Int32", "UInt32", "Float": 4
    case "String": 16
    default: 8
    }
  }

  /// The letter for the type in the text of a table.
  var letter: String {
    switch self {
    case .double: "R"
    case .float: "r"
    case .int64: "I"
    case .uint64: "U"
    case .int32: "i"
    case .fixed64: "F"
    case .fixed32: "f"
    case .bool: "b"
    case .string: "s"
    case .uncheckedString: "t"
    case .bytes: "y"
    case .uint32: "u"
    case .sfixed32: "g"
    case .sfixed64: "G"
    case .sint32: "z"
    case .sint64: "Z"
    }
  }

  /// Whether repeated values may be packed.
  var isPackable: Bool { self != .string && self != .uncheckedString && self != .bytes }

  /// Whether it may be the key type of a map.
  var isMapKey: Bool { self != .double && self != .float && self != .bytes }
}
