/// A message whose JSON form is not an object with its fields.
///
/// Such a type has its own `merge(from:)` and `encode(to:)` for JSON. In an `Any`, its JSON form is the value of the
/// member `value`.
protocol CustomJSON: Message {
  /// Whether `null` is a value of the type rather than an absent one.
  static var acceptsJSONNull: Bool { get }
}

extension CustomJSON {
  static var acceptsJSONNull: Bool { false }
}

extension Message {
  /// Whether `null` is a value of the type rather than an absent one.
  static var acceptsJSONNull: Bool { (Self.self as? any CustomJSON.Type)?.acceptsJSONNull ?? false }
}
