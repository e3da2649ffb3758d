/// A format that writes all fields of a message.
///
/// One method is called for each field, set or not; the visitor decides how to write an absent value.
protocol MessageVisitor: FieldVisitor {
  /// Whether the visitor's methods are compiled for each scalar type: they are faster then, but they are some 20 times the
  /// code, and take long to compile.
  static var isSpecialized: Bool { get }

  /// A field without presence.
  mutating func implicit<S: ScalarType>(
    _ value: S.Value,
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
  mutating func messageMap<K: MapKeyType>(
    _ entries: [K.Value: MessageStorage],
    key: K.Type,
    number: Int32
  ) throws(EncodeError)

  /// The extensions whose numbers are in `range`.
  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError)

  /// All extensions of a message with the MessageSet wire format.
  mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError)

  /// The fields that the type does not know.
  mutating func unknown(_ fields: UnknownFields) throws(EncodeError)
}

/// A visitor to which it does not matter how the binary format frames a field: packed or not, as a message or a group.
protocol UnframedVisitor: MessageVisitor {}

extension UnframedVisitor {
  mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    try repeated(values, as: type, number: number)
  }

  mutating func group(_ value: MessageStorage?, number: Int32) throws(EncodeError) {
    try message(value, number: number)
  }

  mutating func groups(_ values: [MessageStorage], number: Int32) throws(EncodeError) {
    try messages(values, number: number)
  }
}
