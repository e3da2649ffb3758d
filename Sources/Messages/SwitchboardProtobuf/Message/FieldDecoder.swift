/// A format from which the value of a field can be read.
///
/// Exactly one method is called for a field, with its current value. New values are merged by protobuf's rules: a
/// scalar is replaced, a message is merged, and repeated fields and maps grow.
public protocol FieldDecoder {
  /// A field without presence.
  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError)

  /// A field with presence.
  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError)

  /// A repeated field, packed or not.
  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError)

  /// A message field, whose messages have the table `table`.
  mutating func message(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError)

  /// A repeated message field.
  mutating func messages(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError)

  /// A message field that is delimited by group tags in binary.
  mutating func group(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError)

  /// A repeated message field that is delimited by group tags in binary.
  mutating func groups(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError)
}
