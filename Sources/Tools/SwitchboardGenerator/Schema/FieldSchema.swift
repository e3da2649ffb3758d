import SwitchboardSchema

/// A field or an extension, with everything that the emitters need to know.
struct FieldSchema {
  /// The type of one value.
  enum ValueType {
    case scalar(Scalar)
    case enumeration(Int)
    case message(Int, isDelimited: Bool)
  }

  /// The cardinality and presence of a field.
  enum Shape {
    case implicit
    case explicit
    case required
    case oneof(Int)
    case repeated(isPacked: Bool)
    case map(key: Scalar)
  }

  /// The value of a field with presence that is not set.
  enum Default {
    case initial
    case literal(String)
    case enumCase(String)
  }

  let name: String
  let number: Int32
  /// The type of one value; for a map, of its values.
  let type: ValueType
  let shape: Shape
  let initial: Default
  /// Nil if it is the default.
  let jsonName: String?
  /// Nil if it equals the name.
  let textName: String?
  let isDeprecated: Bool
  /// The path of the field in the file's descriptor.
  let path: [Int32]

  /// The base of the Swift names; for a group, the name of its type.
  let namingBase: String
  /// The property and its `has` and `clear`; assigned once all fields of the message are known.
  var names = PropertyNames(base: "")
  /// Assigned once all fields of the message are known; an extension has none.
  var slot = SlotLayout.Slot()

  /// Whether the field has `has` and `clear`.
  var hasCompanions: Bool {
    switch shape {
    case .explicit, .required: true
    case .implicit, .oneof, .repeated, .map: false
    }
  }

  /// Whether the property is a number, a Boolean or an enum.
  var isTrivial: Bool {
    switch (shape, type) {
    case (.repeated, _), (.map, _), (_, .message): false
    case (_, .scalar(let scalar)): scalar.isPackable
    case (_, .enumeration): true
    }
  }

  /// Whether the field is one message that is not delimited: the only kind of extension that a MessageSet holds.
  var isSingleMessage: Bool {
    if case (.explicit, .message(_, isDelimited: false)) = (shape, type) { true } else { false }
  }

  /// The oneof that contains the field.
  var oneof: Int? {
    if case .oneof(let index) = shape { index } else { nil }
  }

  /// The message type of a value; for a map, of its values.
  var message: Int? {
    if case .message(let index, _) = type { index } else { nil }
  }
}

/// A oneof from the source; those synthesized for proto3's `optional` have no members.
struct OneofSchema {
  let name: String
  let path: [Int32]
  /// The names of the property, as for a field.
  var names: PropertyNames
  /// The enum that holds the value.
  var swiftName = ""
  /// The indices of the members among the message's fields.
  var members: [Int] = []
  /// The index among the oneofs that have members, and the distance in bytes from the start of the storage.
  var slot = (index: 0, offset: 0)
}

/// An extension: a field declared outside the message that it belongs to.
struct ExtensionSchema {
  let fullName: String
  let extended: Int
  /// The message that contains the declaration.
  let scope: Int?
  let field: FieldSchema
}
