import SwitchboardSchema

/// What a `google.protobuf.DescriptorProto` says.
struct MessageDescriptor: Sendable, EncodedMessage {
  private(set) var name = ""
  private(set) var field: [FieldDescriptor] = []
  private(set) var nestedType: [MessageDescriptor] = []
  private(set) var enumType: [EnumDescriptor] = []
  private(set) var extensionRange: [ExtensionRange] = []
  private(set) var `extension`: [FieldDescriptor] = []
  private(set) var options = MessageOptions()
  private(set) var oneofDecl: [OneofDescriptor] = []
  private(set) var reservedName: [String] = []

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: try field.append(to: &self.field)
    case 3: try field.append(to: &nestedType)
    case 4: try field.append(to: &enumType)
    case 5: try field.append(to: &extensionRange)
    case 6: try field.append(to: &`extension`)
    case 7: try field.merge(into: &options)
    case 8: try field.append(to: &oneofDecl)
    case 10: if let name = field.text { reservedName.append(name) }
    default: break
    }
  }
}

/// The options of a message.
struct MessageOptions: Sendable, EncodedMessage {
  private(set) var messageSetWireFormat = false
  private(set) var deprecated = false
  private(set) var mapEntry = false
  private(set) var features = FeatureOptions()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: messageSetWireFormat = field.isTrue ?? messageSetWireFormat
    case 3: deprecated = field.isTrue ?? deprecated
    case 7: mapEntry = field.isTrue ?? mapEntry
    case 12: try field.merge(into: &features)
    default: break
    }
  }
}

/// The numbers from `start` up to, not including, `end`.
struct ExtensionRange: Sendable, EncodedMessage {
  private(set) var start: Int32 = 0
  private(set) var end: Int32 = 0

  mutating func merge(_ field: EncodedField) {
    switch field.number {
    case 1: start = field.int32 ?? start
    case 2: end = field.int32 ?? end
    default: break
    }
  }
}

/// What a `google.protobuf.OneofDescriptorProto` says.
struct OneofDescriptor: Sendable, EncodedMessage {
  struct Options: Sendable, EncodedMessage {
    private(set) var features = FeatureOptions()

    mutating func merge(_ field: EncodedField) throws(GeneratorError) {
      if field.number == 1 { try field.merge(into: &features) }
    }
  }

  private(set) var name = ""
  private(set) var options = Options()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: try field.merge(into: &options)
    default: break
    }
  }
}

/// What a `google.protobuf.FieldDescriptorProto` says.
struct FieldDescriptor: Sendable, EncodedMessage {
  /// The types, with the numbers of `google.protobuf.FieldDescriptorProto.Type`.
  enum Kind: Int32 {
    case double = 1
    case float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32, `enum`
    case sfixed32, sfixed64, sint32, sint64
  }

  private(set) var name = ""
  private(set) var extendee = ""
  private(set) var number: Int32 = 0
  private var label: Int32 = 1
  private(set) var type: Kind?
  private(set) var typeName: String?
  private(set) var defaultValue: String?
  private(set) var options = FieldOptions()
  private(set) var oneofIndex: Int32?
  private(set) var jsonName = ""
  private(set) var proto3Optional = false

  var isRequired: Bool { label == 2 }
  var isRepeated: Bool { label == 3 }

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: extendee = field.text ?? extendee
    case 3: number = field.int32 ?? number
    case 4: label = field.int32 ?? label
    case 5: type = field.int32.flatMap(Kind.init) ?? type
    case 6: typeName = field.text ?? typeName
    case 7: defaultValue = field.text ?? defaultValue
    case 8: try field.merge(into: &options)
    case 9: oneofIndex = field.int32 ?? oneofIndex
    case 10: jsonName = field.text ?? jsonName
    case 17: proto3Optional = field.isTrue ?? proto3Optional
    default: break
    }
  }
}

/// The options of a field.
struct FieldOptions: Sendable, EncodedMessage {
  private(set) var packed: Bool?
  private(set) var deprecated = false
  private(set) var features = FeatureOptions()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 2: packed = field.isTrue ?? packed
    case 3: deprecated = field.isTrue ?? deprecated
    case 21: try field.merge(into: &features)
    default: break
    }
  }
}

/// What a `google.protobuf.EnumDescriptorProto` says.
struct EnumDescriptor: Sendable, EncodedMessage {
  struct Options: Sendable, EncodedMessage {
    private(set) var deprecated = false
    private(set) var features = FeatureOptions()

    mutating func merge(_ field: EncodedField) throws(GeneratorError) {
      switch field.number {
      case 3: deprecated = field.isTrue ?? deprecated
      case 7: try field.merge(into: &features)
      default: break
      }
    }
  }

  private(set) var name = ""
  private(set) var value: [EnumValueDescriptor] = []
  private(set) var options = Options()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: try field.append(to: &value)
    case 3: try field.merge(into: &options)
    default: break
    }
  }
}

/// What a `google.protobuf.EnumValueDescriptorProto` says.
struct EnumValueDescriptor: Sendable, EncodedMessage {
  struct Options: Sendable, EncodedMessage {
    private(set) var deprecated = false

    mutating func merge(_ field: EncodedField) {
      if field.number == 1 { deprecated = field.isTrue ?? deprecated }
    }
  }

  private(set) var name = ""
  private(set) var number: Int32 = 0
  private(set) var options = Options()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: number = field.int32 ?? number
    case 3: try field.merge(into: &options)
    default: break
    }
  }
}
