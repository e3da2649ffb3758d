import SwitchboardDescriptors

/// A message, with everything decided that its code depends on.
struct MessageSchema {
  let name: String
  let fullName: String
  let file: Int
  let parent: Int?
  /// The way to the message in the file's descriptor.
  let path: [Int32]
  let descriptor: Google_Protobuf_DescriptorProto
  let features: Features
  let isMapEntry: Bool
  let isMessageSet: Bool
  let isDeprecated: Bool

  var nestedMessages: [Int] = []
  var nestedEnums: [Int] = []

  /// In the order of the file.
  var fields: [FieldSchema] = []
  var oneofs: [OneofSchema] = []
  var extensions: [ExtensionSchema] = []
  /// In the order of the numbers.
  var extensionRanges: [Range<Int32>] = []

  /// The name within what it is nested in, and from the top of the module.
  var swiftName = ""
  var swiftFullName = ""

  /// Whether the fields are kept on the heap.
  var isBoxed = false
  /// Whether a message may lack required fields, here or below.
  var canBeUninitialized = false

  var isExtensible: Bool { isMessageSet || !extensionRanges.isEmpty }

  /// Whether a property has the name in Swift.
  func hasMember(named name: Substring) -> Bool {
    // Almost all names of types begin with a capital, and no property's does.
    guard name.utf8.first?.isUpper == false else { return false }
    return fields.contains { $0.names.property == name } || oneofs.contains { $0.names.property == name }
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
  /// What stands in Swift for it. Nil where it is an alias whose name another value has already.
  var swiftName: String?
  /// Whether another value has the number already.
  let isAlias: Bool
}
