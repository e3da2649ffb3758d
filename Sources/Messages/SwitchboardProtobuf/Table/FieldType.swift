/// The type of a field in its `.proto` file; for a map, of its values.
public enum FieldType: UInt8, Hashable, Sendable, CaseIterable {
  /// `int32`
  case int32
  /// `int64`
  case int64
  /// `uint32`
  case uint32
  /// `uint64`
  case uint64
  /// `sint32`
  case sint32
  /// `sint64`
  case sint64
  /// `fixed32`
  case fixed32
  /// `fixed64`
  case fixed64
  /// `sfixed32`
  case sfixed32
  /// `sfixed64`
  case sfixed64
  /// `float`
  case float
  /// `double`
  case double
  /// `bool`
  case bool
  /// `enum`
  case enumeration
  /// `string`
  case string
  /// `bytes`
  case bytes
  /// `message`
  case message
  /// A message that is delimited by group tags in binary.
  case group
}

extension FieldType {
  /// Whether repeated values may share one length-delimited field.
  var isPackable: Bool { rawValue < FieldType.string.rawValue }

  /// Whether the values are messages.
  var isMessage: Bool { self == .message || self == .group }

  /// Whether a map may have keys of this type.
  package var isMapKey: Bool {
    switch self {
    case .float, .double, .enumeration, .bytes, .message, .group: false
    default: true
    }
  }

  /// The wire type of a value that is not packed.
  var wireType: WireType {
    switch self {
    case .fixed32, .sfixed32, .float: .fixed32
    case .fixed64, .sfixed64, .double: .fixed64
    case .string, .bytes, .message: .lengthDelimited
    case .group: .startGroup
    default: .varint
    }
  }

  /// The size of a value in an object, in bytes.
  var width: Int {
    switch self {
    case .bool: 1
    case .int32, .uint32, .sint32, .fixed32, .sfixed32, .float, .enumeration: 4
    case .string: 16
    default: 8
    }
  }

  /// The type that reads and writes the values in all formats; for messages, which have no scalar type, that of
  /// `bytes`. For enums, it is ``TableEnum``.
  func scalar(checksUTF8: Bool) -> any ScalarType.Type {
    switch self {
    case .float: ProtoFloat.self
    case .double: ProtoDouble.self
    case .enumeration: TableEnum.self
    case .bytes, .message, .group: ProtoBytes.self
    default: mapKey(checksUTF8: checksUTF8)
    }
  }

  /// The type that reads and writes the keys of a map.
  func mapKey(checksUTF8: Bool) -> any MapKeyType.Type {
    switch self {
    case .int32: ProtoInt32.self
    case .int64: ProtoInt64.self
    case .uint32: ProtoUInt32.self
    case .uint64: ProtoUInt64.self
    case .sint32: ProtoSInt32.self
    case .sint64: ProtoSInt64.self
    case .fixed32: ProtoFixed32.self
    case .fixed64: ProtoFixed64.self
    case .sfixed32: ProtoSFixed32.self
    case .sfixed64: ProtoSFixed64.self
    case .bool: ProtoBool.self
    default: checksUTF8 ? ProtoString.self : ProtoUncheckedString.self
    }
  }
}
