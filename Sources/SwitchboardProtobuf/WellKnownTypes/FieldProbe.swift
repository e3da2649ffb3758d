/// Finds the message type of a field by asking a message to decode it.
struct FieldProbe {
  /// The type of the last message that was entered; nil if the field is not a singular message.
  private(set) var type: (any Message.Type)?

  init(_ type: any Message.Type) { self.type = type }

  /// Enters the field with this name in the `.proto` file. Returns false if there is none.
  mutating func enter(_ name: String) -> Bool {
    guard let outer = type else { return false }
    type = nil
    return enter(name, of: outer)
  }

  private mutating func enter<M: Message>(_ name: String, of outer: M.Type) -> Bool {
    guard let number = M.fieldNames.number(ofName: name) else { return false }
    var message = M()
    // The probe reads nothing, so it never throws.
    return (try? message.decodeField(number, from: &self)) != nil
  }
}

extension FieldProbe: FieldDecoder {
  mutating func message<M: Message>(_ value: inout M?) throws(DecodeError) { type = M.self }

  mutating func group<M: Message>(_ value: inout M?) throws(DecodeError) { type = M.self }

  mutating func oneofMessage<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) { type = M.self }

  mutating func oneofGroup<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) { type = M.self }

  // Other fields hold no singular message.

  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError) {}

  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError) {}

  mutating func oneof<S: ScalarType>(_ type: S.Type, isSet: Bool) throws(DecodeError) -> S.Value? { nil }

  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError) {}

  mutating func messages<M: Message>(_ values: inout [M]) throws(DecodeError) {}

  mutating func groups<M: Message>(_ values: inout [M]) throws(DecodeError) {}

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError) {}

  mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: inout [K.Value: M],
    key: K.Type
  ) throws(DecodeError) {}

  mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {}

  mutating func messageSetField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {}
}
