/// The input for making a table: a message as in its descriptor, with all features resolved.
package struct TableSchema {
  package var fullName: String
  package var fields: [Field] = []
  package var oneofs: [String] = []
  package var reservedNames: [String] = []
  package var isMessageSet = false
  /// Whether the message has a slot for extensions: only a generated one, because in others they are fields.
  package var isExtensible = false

  package init(fullName: String) { self.fullName = fullName }

  /// A field of the message or an extension of it.
  package struct Field {
    /// Whether a field that is not set differs from one with the default value.
    package enum Presence {
      case implicit
      case explicit
      case required
    }

    package var name: String
    package var number: Int32
    package var type: FieldType
    package var jsonName = ""
    /// The name in the text format, if that differs from `name`.
    package var textName: String?
    package var isRepeated = false
    package var isPacked = false
    package var presence = Presence.implicit
    package var checksUTF8 = true
    package var isExtension = false
    /// The index of the oneof, if the field is a member of one.
    package var oneof: Int?
    /// The type of the keys, if the field is a map.
    package var mapKey: FieldType?
    /// The index of the message that the field holds.
    package var message: Int?
    /// The index of the message or enum among the types that a generated message names.
    package var link: Int?
    package var enumeration: EnumTable?
    package var defaultValue: DynamicValue?

    package init(name: String, number: Int32, type: FieldType) {
      self.name = name
      self.number = number
      self.type = type
    }
  }
}

/// The reason why tables cannot be made.
package enum TableError: Error {
  /// Two fields of a message have the same number.
  case duplicateNumber(Int32)
  /// The message has more fields or oneofs than an object may hold.
  case tooManyFields
  /// Swift's objects or optionals do not have the layout that the objects of messages need.
  case unknownLayout
}
