/// The code for one field or oneof of a message.
struct FieldCode {
  let context: FileContext
  let field: FieldSchema

  /// The property as an expression in the type that stores it.
  private var stored: String {
    ReservedWords.expression(field.isStoredAsOptional ? field.names.storage : field.names.property)
  }

  // MARK: Reading

  /// The statement that reads the field.
  var decode: String {
    let proto = context.protoType(field.type)
    switch (field.shape, field.type) {
    case (.map(let key), .message):
      return "try decoder.messageMap(&\(stored), key: \(context.scalarName(key)).self)"
    case (.map(let key), _):
      return "try decoder.map(&\(stored), key: \(context.scalarName(key)).self, value: \(proto).self)"
    case (.repeated, .message(_, let isDelimited)):
      return "try decoder.\(isDelimited ? "groups" : "messages")(&\(stored))"
    case (.repeated, _): return "try decoder.repeated(&\(stored), as: \(proto).self)"
    case (_, .message(_, let isDelimited)):
      return "try decoder.\(isDelimited ? "group" : "message")(&\(stored))"
    case (.implicit, _): return "try decoder.singular(&\(stored), as: \(proto).self)"
    case (.explicit, _), (.required, _), (.oneof, _):
      return "try decoder.optional(&\(stored), as: \(proto).self)"
    }
  }

  /// The statements that read a member of `oneof`.
  func decode(in oneof: OneofSchema) -> [String] {
    let holder = ReservedWords.expression(oneof.names.property)
    let name = field.names.property.withoutBackticks
    guard case .message(_, let isDelimited) = field.type else {
      let value = "try decoder.oneof(\(context.protoType(field.type)).self, isSet: \(holder) != nil)"
      return ["if let value = \(value) { \(holder) = .\(name)(value) }"]
    }
    // The member is moved out of the oneof while it is merged; a shared one would be copied each time.
    return [
      "let isSet = \(holder) != nil",
      "var value: \(context.valueType(field.type))?",
      "if case .\(name)(let current)? = \(holder) { (value, \(holder)) = (current, nil) }",
      "defer { if let value { \(holder) = .\(name)(value) } }",
      "try decoder.\(isDelimited ? "oneofGroup" : "oneofMessage")(&value, isSet: isSet)",
    ]
  }

  // MARK: Writing

  /// The statement that passes the field to a visitor.
  var traverse: String { traverse(stored) }

  /// The statement that passes `value` to a visitor as the value of the field.
  func traverse(_ value: String) -> String {
    let number = "number: \(field.number)"
    let proto = context.protoType(field.type)
    switch (field.shape, field.type) {
    case (.map(let key), .message):
      return "try visitor.messageMap(\(value), key: \(context.scalarName(key)).self, \(number))"
    case (.map(let key), _):
      let types = "key: \(context.scalarName(key)).self, value: \(proto).self"
      return "try visitor.map(\(value), \(types), \(number))"
    case (.repeated, .message(_, let isDelimited)):
      return "try visitor.\(isDelimited ? "groups" : "messages")(\(value), \(number))"
    case (.repeated(let isPacked), _):
      return "try visitor.\(isPacked ? "packed" : "repeated")(\(value), as: \(proto).self, \(number))"
    case (_, .message(_, let isDelimited)):
      return "try visitor.\(isDelimited ? "group" : "message")(\(value), \(number))"
    case (.implicit, _): return "try visitor.implicit(\(value), as: \(proto).self, \(number))"
    case (.explicit, _), (.required, _), (.oneof, _):
      return "try visitor.explicit(\(value), as: \(proto).self, \(number))"
    }
  }

  // MARK: Properties

  /// The declaration that stores the value. A field stored as an optional has the access level `hidden`.
  func storage(visibility: String, hidden: String) -> String {
    let type = context.propertyType(of: field)
    if field.isStoredAsOptional { return "\(hidden)var \(field.names.storage): \(type)?" }
    return "\(visibility)var \(field.names.property): \(type) = \(context.initialValue(of: field))"
  }

  /// The properties of a field with presence, which `holder` stores.
  func accessors(holder: String, visibility: String) -> [String] {
    let type = context.propertyType(of: field)
    let names = field.names
    let value = holder.isEmpty ? ReservedWords.expression(names.storage) : holder + names.storage
    let initial = context.initialValue(of: field)
    // A value without heap storage gains nothing from modification in place, and a setter is shorter.
    let change =
      field.isTrivial ? "set { \(value) = newValue }" : "_modify { yield &\(value)[or: \(initial)] }"
    return [
      "\(visibility)var \(names.property): \(type) { get { \(value) ?? \(initial) } \(change) }",
      "\(visibility)var \(names.has): Bool { \(value) != nil }",
      "\(visibility)mutating func \(names.clear)() { \(value) = nil }",
    ]
  }

  /// The property of a member of `oneof`.
  func accessor(in oneof: OneofSchema, holder: String, visibility: String) -> String {
    let type = context.valueType(field.type)
    let value =
      holder.isEmpty ? ReservedWords.expression(oneof.names.property) : holder + oneof.names.property
    let name = field.names.property.withoutBackticks
    let initial = context.initialValue(of: field)
    let get = "get { if case .\(name)(let value)? = \(value) { value } else { \(initial) } }"
    guard field.message != nil else {
      return
        "\(visibility)var \(field.names.property): \(type) { \(get) set { \(value) = .\(name)(newValue) } }"
    }
    // In place, as far as possible: a copy of a message would copy the arrays in it.
    let take = "var new = self.\(name); \(value) = nil; defer { \(value) = .\(name)(new) }; yield &new"
    return "\(visibility)var \(field.names.property): \(type) { \(get) _modify { \(take) } }"
  }
}
