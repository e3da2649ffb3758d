/// Visits the fields of a message: a format that writes them.
///
/// ``Message/traverse(_:)`` calls one method per field, set or not; the visitor decides how to write an absent value.
public protocol FieldVisitor {
  /// A field without presence.
  mutating func implicit<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError)

  /// A field with presence, or the set member of a oneof.
  mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError)

  /// A repeated field that is written value by value.
  mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError)

  /// A repeated field whose values share one length-delimited field in binary.
  mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError)

  /// A map to scalars or enums.
  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) throws(EncodeError)

  /// A map to messages.
  mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: [K.Value: M],
    key: K.Type,
    number: Int32
  ) throws(EncodeError)

  /// A message field, or the set member of a oneof.
  mutating func message<M: Message>(_ value: M?, number: Int32) throws(EncodeError)

  /// A repeated message field.
  mutating func messages<M: Message>(_ values: [M], number: Int32) throws(EncodeError)

  /// A message field that is delimited by group tags in binary.
  mutating func group<M: Message>(_ value: M?, number: Int32) throws(EncodeError)

  /// A repeated message field that is delimited by group tags in binary.
  mutating func groups<M: Message>(_ values: [M], number: Int32) throws(EncodeError)

  /// The extensions whose numbers are in `range`.
  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError)

  /// All extensions of a message with the MessageSet wire format.
  mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError)

  /// The fields that the type does not know.
  mutating func unknown(_ fields: UnknownFields) throws(EncodeError)
}
