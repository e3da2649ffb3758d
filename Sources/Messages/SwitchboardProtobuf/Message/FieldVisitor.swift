/// A format in which the value of a field or an extension can be written.
public protocol FieldVisitor {
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

  /// A message field, or the set member of a oneof.
  mutating func message(_ value: MessageStorage?, number: Int32) throws(EncodeError)

  /// A repeated message field.
  mutating func messages(_ values: [MessageStorage], number: Int32) throws(EncodeError)

  /// A message field that is delimited by group tags in binary.
  mutating func group(_ value: MessageStorage?, number: Int32) throws(EncodeError)

  /// A repeated message field that is delimited by group tags in binary.
  mutating func groups(_ values: [MessageStorage], number: Int32) throws(EncodeError)
}
