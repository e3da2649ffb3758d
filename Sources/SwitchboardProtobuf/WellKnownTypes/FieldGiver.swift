/// Stores a value that a ``FieldCollector`` collected in a field: appends to a repeated field or a map, and replaces
/// any other.
struct FieldGiver: FieldDecoder {
  let value: Any

  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) {
    if let given = self.value as? S.Value { value = given }
  }

  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) {
    if let given = self.value as? S.Value { value = given }
  }

  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) {
    if let given = value as? [S.Value] { values += given }
  }

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) {
    if let given = self.value as? [K.Value: V.Value] { entries.merge(given) { $1 } }
  }

  mutating func messageMap<K: MapKeyType, M: Message>(_ entries: inout [K.Value: M], key: K.Type) {
    if let given = value as? [K.Value: M] { entries.merge(given) { $1 } }
  }

  mutating func message<M: Message>(_ value: inout M?) {
    if let given = self.value as? M { value = given }
  }

  mutating func messages<M: Message>(_ values: inout [M]) {
    if let given = value as? [M] { values += given }
  }

  mutating func group<M: Message>(_ value: inout M?) { message(&value) }

  mutating func groups<M: Message>(_ values: inout [M]) { messages(&values) }

  mutating func oneof<S: ScalarType>(_ type: S.Type, isSet: Bool) -> S.Value? { value as? S.Value }

  mutating func oneofMessage<M: Message>(_ value: inout M?, isSet: Bool) { message(&value) }

  mutating func oneofGroup<M: Message>(_ value: inout M?, isSet: Bool) { message(&value) }

  mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) {
    if let given = value as? ExtensionFields { fields = given }
  }

  mutating func messageSetField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) {
    extensionField(number, of: type, into: &fields)
  }
}

extension Message {
  /// Stores a value that was collected from a message of this type in the field `number`.
  mutating func give(_ value: Any, to number: Int32) {
    var giver = FieldGiver(value: value)
    // The giver never throws.
    try? decodeField(number, from: &giver)
  }
}
