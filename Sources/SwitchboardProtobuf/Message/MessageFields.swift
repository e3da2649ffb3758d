/// The fields of a message and the two walks over them: what ``Message`` asks of a type, apart from a name.
///
/// A message that keeps its fields in a ``Boxed`` has them in a type of its own, which conforms to this and no more.
public protocol MessageFields: Hashable, Sendable {
  /// The names and numbers of the fields, for the formats that spell them out.
  static var fieldNames: FieldNames { get }

  /// Fields of which none is set.
  init()

  /// What the wire held that the type has no field for.
  var unknownFields: UnknownFields { get set }

  /// Reads the value of the field `number` from `decoder` and merges it in.
  ///
  /// A number that the type does not know is left to the decoder by not calling it.
  mutating func decodeField<Decoder: FieldDecoder>(
    _ number: Int32,
    from decoder: inout Decoder
  ) throws(DecodeError)

  /// Shows every field to `visitor`, in the order of the field numbers, unknown fields last.
  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError)
}
