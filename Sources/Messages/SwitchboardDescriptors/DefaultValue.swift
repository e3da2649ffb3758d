import SwitchboardProtobuf
import SwitchboardSchema
import SwitchboardText

/// Parses default values, which descriptors contain as text.
enum DefaultValue {
  /// Parses `text` as a value of the field's type; nil if it is not one.
  static func value(of text: String, for field: TableSchema.Field) -> DynamicValue? {
    switch field.type {
    case .int32, .sint32, .sfixed32: Int32(text).map(DynamicValue.int32)
    case .int64, .sint64, .sfixed64: Int64(text).map(DynamicValue.int64)
    case .uint32, .fixed32: UInt32(text).map(DynamicValue.uint32)
    case .uint64, .fixed64: UInt64(text).map(DynamicValue.uint64)
    case .float: Float(text).map(DynamicValue.float)
    case .double: Double(text).map(DynamicValue.double)
    case .bool: text.isExactly("true") ? .bool(true) : text.isExactly("false") ? .bool(false) : nil
    case .enumeration: field.enumeration?.number(of: text).map(DynamicValue.enumeration)
    case .string: .string(text)
    case .bytes: CEscapes.decode(text).map(DynamicValue.bytes)
    case .message, .group: nil
    }
  }
}
