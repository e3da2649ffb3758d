import SwitchboardText

/// The value of a field of a ``DynamicMessage``.
public enum DynamicValue: Hashable, Sendable {
  /// `int32`, `sint32` and `sfixed32`
  case int32(Int32)
  /// `int64`, `sint64` and `sfixed64`
  case int64(Int64)
  /// `uint32` and `fixed32`
  case uint32(UInt32)
  /// `uint64` and `fixed64`
  case uint64(UInt64)
  /// `float`
  case float(Float)
  /// `double`
  case double(Double)
  /// `bool`
  case bool(Bool)
  /// The number of an enum's value.
  case enumeration(Int32)
  /// `string`
  case string(String)
  /// `bytes`
  case bytes([UInt8])
  /// A message or a group.
  case message(DynamicMessage)
  /// The values of a repeated field.
  case list([DynamicValue])
  /// The entries of a map.
  case map([DynamicValue: DynamicValue])
}

// Strings are the same if their bytes are, as in messages.
extension DynamicValue {
  /// Whether both are of the same case and have the same value.
  public static func == (left: DynamicValue, right: DynamicValue) -> Bool {
    switch (left, right) {
    case (.int32(let left), .int32(let right)): left == right
    case (.int64(let left), .int64(let right)): left == right
    case (.uint32(let left), .uint32(let right)): left == right
    case (.uint64(let left), .uint64(let right)): left == right
    case (.float(let left), .float(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.enumeration(let left), .enumeration(let right)): left == right
    case (.string(let left), .string(let right)): left.isExactly(right)
    case (.bytes(let left), .bytes(let right)): left == right
    case (.message(let left), .message(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.map(let left), .map(let right)): left == right
    default: false
    }
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .int32(let value), .enumeration(let value): hasher.combine(value)
    case .int64(let value): hasher.combine(value)
    case .uint32(let value): hasher.combine(value)
    case .uint64(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .string(let value): hasher.combine(ExactText(value))
    case .bytes(let value): hasher.combine(value)
    case .message(let value): hasher.combine(value)
    case .list(let values): hasher.combine(values)
    case .map(let entries): hasher.combine(entries)
    }
  }
}

extension DynamicValue {
  /// The default value of a field that does not declare another; nil for messages.
  init?(defaultOf field: TableSchema.Field) {
    switch field.type {
    case .int32, .sint32, .sfixed32: self = .int32(0)
    case .int64, .sint64, .sfixed64: self = .int64(0)
    case .uint32, .fixed32: self = .uint32(0)
    case .uint64, .fixed64: self = .uint64(0)
    case .float: self = .float(0)
    case .double: self = .double(0)
    case .bool: self = .bool(false)
    case .enumeration: self = .enumeration(field.enumeration?.defaultNumber ?? 0)
    case .string: self = .string("")
    case .bytes: self = .bytes([])
    case .message, .group: return nil
    }
  }

  /// The value of a scalar or enum. Nil for a Swift type that no field has.
  init?<Value>(scalar value: Value, of type: FieldType) {
    switch value {
    case let value as Int32: self = type == .enumeration ? .enumeration(value) : .int32(value)
    case let value as Int64: self = .int64(value)
    case let value as UInt32: self = .uint32(value)
    case let value as UInt64: self = .uint64(value)
    case let value as Float: self = .float(value)
    case let value as Double: self = .double(value)
    case let value as Bool: self = .bool(value)
    case let value as String: self = .string(value)
    case let value as [UInt8]: self = .bytes(value)
    case let value as any Enum: self = .enumeration(Int32(truncatingIfNeeded: value.rawValue))
    case let value as MessageStorage: self = .message(DynamicMessage(value))
    default: return nil
    }
  }

  /// The value as the Swift type of a slot, an array or a dictionary, or nil if that type does not have it.
  func stored<Value>(as type: Value.Type) -> Value? {
    switch self {
    case .int32(let value): value as? Value
    case .enumeration(let number):
      if let type = type as? any Enum.Type {
        type.init(rawValue: Int(number)) as? Value
      } else {
        number as? Value
      }
    case .int64(let value): value as? Value
    case .uint32(let value): value as? Value
    case .uint64(let value): value as? Value
    case .float(let value): value as? Value
    case .double(let value): value as? Value
    case .bool(let value): value as? Value
    case .string(let value): value as? Value
    case .bytes(let value): value as? Value
    case .message(let value): value.storage as? Value
    case .list, .map: nil
    }
  }
}
