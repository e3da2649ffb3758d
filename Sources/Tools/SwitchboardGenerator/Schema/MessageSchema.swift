import SwitchboardSchema

/// A message, with everything that the emitters need to know.
struct MessageSchema {
  let name: String
  let fullName: String
  let file: Int
  let parent: Int?
  /// The path of the message in the file's descriptor.
  let path: [Int32]
  let descriptor: MessageDescriptor
  let features: Features
  let isMapEntry: Bool
  let isMessageSet: Bool
  let isDeprecated: Bool

  var nestedMessages: [Int] = []
  var nestedEnums: [Int] = []

  /// Fields, in the order of the file.
  var fields: [FieldSchema] = []
  var oneofs: [OneofSchema] = []
  var extensions: [ExtensionSchema] = []
  /// Sorted by number.
  var extensionRanges: [Range<Int32>] = []

  /// The name within the enclosing type; below, the name within the module.
  var swiftName = ""
  var swiftFullName = ""

  /// Whether required fields can be missing in the message or in messages in it.
  var canBeUninitialized = false

  /// A MessageSet has a slot for extensions even if it leaves no number to them.
  var isExtensible: Bool { isMessageSet || !extensionRanges.isEmpty }

  /// Whether a property has this Swift name.
  func hasMember(named name: Substring) -> Bool {
    fields.contains { $0.names.property == name }
      || oneofs.contains { $0.names.property == name && !$0.members.isEmpty }
  }
}

/// An enum.
struct EnumSchema {
  let name: String
  let fullName: String
  let file: Int
  let parent: Int?
  let path: [Int32]
  let isOpen: Bool
  let isDeprecated: Bool
  let values: [EnumValueSchema]

  var swiftName = ""
  var swiftFullName = ""
}

/// A value of an enum.
struct EnumValueSchema {
  let name: String
  let number: Int32
  let path: [Int32]
  let isDeprecated: Bool
  /// The Swift name; nil for an alias whose name would equal that of another value.
  var swiftName: String?
  /// Whether an earlier value has the same number.
  let isAlias: Bool
}
