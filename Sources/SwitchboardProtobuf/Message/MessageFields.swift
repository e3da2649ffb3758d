/// The fields of a message and the two ways to go through them: what ``Message`` requires of a type, except for a name.
///
/// A message that stores its fields in a ``Boxed`` has a separate type for them, which conforms only to this protocol.
public protocol MessageFields: Hashable, Sendable {
  /// The names and numbers of the fields, for formats that write names.
  static var fieldNames: FieldNames { get }

  /// Creates fields of which none is set.
  init()

  /// The fields on the wire that the type does not know.
  var unknownFields: UnknownFields { get set }

  /// Reads the value of the field `number` from `decoder` and merges it into this message.
  ///
  /// For a number that the type does not know, it does not call the decoder.
  mutating func decodeField<Decoder: FieldDecoder>(
    _ number: Int32,
    from decoder: inout Decoder
  ) throws(DecodeError)

  /// Passes every field to `visitor`, in the order of the field numbers, unknown fields last.
  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError)
}
