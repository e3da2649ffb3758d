/// A message whose JSON form is not an object with its fields.
///
/// Such a type has a `merge(from:)` and an `encode(to:)` of its own for JSON. Within an `Any` its form is the value
/// of a member called `value`.
protocol CustomJSON: Message {
  /// Whether `null` is a value of the type, and not the absence of one.
  static var acceptsJSONNull: Bool { get }
}

extension CustomJSON {
  static var acceptsJSONNull: Bool { false }
}

extension Message {
  /// Whether `null` is a value of the type, and not the absence of one.
  static var acceptsJSONNull: Bool { (Self.self as? any CustomJSON.Type)?.acceptsJSONNull ?? false }
}
