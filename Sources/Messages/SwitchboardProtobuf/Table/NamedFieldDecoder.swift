/// A format that identifies fields by name: JSON or text.
protocol NamedFieldDecoder: FieldDecoder {
  /// Whether the decoder's methods are compiled for each scalar type, as in ``MessageVisitor``.
  static var isSpecialized: Bool { get }

  /// The extensions to recognize.
  var extensions: ExtensionRegistry? { get }

  /// The enum of the next field, if it was described at run time. All such enums have the same Swift type.
  var fieldEnum: EnumTable? { get set }

  /// Reads a member of a oneof; `read` returns whether there was a value. `isSet` says whether the oneof has a value
  /// already, which is an error.
  mutating func oneof(
    isSet: Bool,
    _ read: (inout Self) throws(DecodeError) -> Bool
  ) throws(DecodeError)

  /// A map to scalars or enums.
  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError)

  /// A map to messages.
  mutating func messageMap<K: MapKeyType>(
    _ entries: inout [K.Value: MessageStorage],
    key: K.Type,
    of table: TableData
  ) throws(DecodeError)
}

// Only the binary format writes groups differently from messages.
extension NamedFieldDecoder {
  mutating func group(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError) {
    try message(&value, of: table)
  }

  mutating func groups(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError) {
    try messages(&values, of: table)
  }
}
