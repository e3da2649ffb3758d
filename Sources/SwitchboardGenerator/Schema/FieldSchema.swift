/// A field, or an extension, with everything decided that its code depends on.
struct FieldSchema {
  /// The type of one value.
  enum ValueType {
    case scalar(Scalar)
    case enumeration(Int)
    case message(Int, isDelimited: Bool)
  }

  /// How many values there are and how their absence is told.
  enum Shape {
    case implicit
    case explicit
    case required
    case oneof(Int)
    case repeated(isPacked: Bool)
    case map(key: Scalar)
  }

  /// The value of a field with presence that was not set.
  enum Default {
    case initial
    case literal(String)
    case enumCase(String)
  }

  let name: String
  let number: Int32
  /// Of one value; of a map's values where it is a map.
  let type: ValueType
  let shape: Shape
  let initial: Default
  /// Nil where it follows from the name.
  let jsonName: String?
  /// Nil where it is the name.
  let textName: String?
  let isDeprecated: Bool
  /// The way to the field in the file's descriptor.
  let path: [Int32]

  /// What the Swift names are made from: a group's field is known by the name of its type.
  let namingBase: String
  /// The property, its storage and its two companions; set when all fields of the message are known.
  var names = PropertyNames(base: "")

  /// Whether the field has `has` and `clear`, and is stored as an optional.
  var isStoredAsOptional: Bool {
    switch shape {
    case .explicit, .required: true
    case .implicit, .oneof, .repeated, .map: false
    }
  }

  /// Whether one value is a number, a flag or an enum.
  var isTrivial: Bool {
    switch type {
    case .scalar(let scalar): scalar != .string && scalar != .uncheckedString && scalar != .bytes
    case .enumeration: true
    case .message: false
    }
  }

  /// The oneof that the field is a member of.
  var oneof: Int? {
    if case .oneof(let index) = shape { index } else { nil }
  }

  /// The message that a value is or, in a map, has as its value.
  var message: Int? {
    if case .message(let index, _) = type { index } else { nil }
  }
}

/// A oneof that somebody wrote; those made up for proto3's `optional` are left out.
struct OneofSchema {
  let name: String
  let path: [Int32]
  /// The property, as for a field.
  var names: PropertyNames
  /// The enum that holds the value.
  var swiftName = ""
  /// Indexes of the members among the message's fields.
  var members: [Int] = []
}

/// An extension: a field that stands outside of the message it belongs to.
struct ExtensionSchema {
  let fullName: String
  let extended: Int
  /// The message in whose scope it stands.
  let scope: Int?
  let field: FieldSchema
}
