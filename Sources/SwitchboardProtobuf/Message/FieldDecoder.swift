/// A format that fields can be read from.
///
/// ``Message/decodeField(_:from:)`` calls exactly one method for a field number that the message knows, and passes the
/// property that receives the value. Values merge by protobuf's rules: a scalar is replaced, a message is merged,
/// repeated fields and maps grow.
public protocol FieldDecoder {
  /// A field without presence.
  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError)

  /// A field with presence.
  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError)

  /// A repeated field, packed or not.
  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError)

  /// A map to scalars or enums.
  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError)

  /// A map to messages.
  mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: inout [K.Value: M],
    key: K.Type
  ) throws(DecodeError)

  /// A message field.
  mutating func message<M: Message>(_ value: inout M?) throws(DecodeError)

  /// A repeated message field.
  mutating func messages<M: Message>(_ values: inout [M]) throws(DecodeError)

  /// A message field that is delimited by group tags in binary.
  mutating func group<M: Message>(_ value: inout M?) throws(DecodeError)

  /// A repeated message field that is delimited by group tags in binary.
  mutating func groups<M: Message>(_ values: inout [M]) throws(DecodeError)

  /// A scalar member of a oneof: returns the new value, or nil if the input held none. `isSet` says whether the oneof
  /// has a value already, which some formats reject.
  mutating func oneof<S: ScalarType>(_ type: S.Type, isSet: Bool) throws(DecodeError) -> S.Value?

  /// A message member of a oneof. If the oneof held this member, the generated code has moved it into `value`, so that
  /// it is merged in place without a copy; it moves it back unless it is nil. `isSet` is as for a scalar.
  mutating func oneofMessage<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError)

  /// A message member of a oneof that is delimited by group tags in binary.
  mutating func oneofGroup<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError)

  /// A field in the extension range of `type`.
  mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError)

  /// Any field of a message with the MessageSet wire format.
  mutating func messageSetField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError)
}
