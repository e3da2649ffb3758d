/// A message whose JSON form is not an object with its fields.
///
/// In an `Any`, its JSON form is the value of the member `value`.
protocol CustomJSON: Message {
  /// Whether `null` is a value of the type rather than an absent one.
  static var acceptsJSONNull: Bool { get }

  /// Reads a JSON value and merges it into this message.
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError)

  /// Writes this message as a JSON value.
  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError)
}

extension CustomJSON {
  static var acceptsJSONNull: Bool { false }
}
