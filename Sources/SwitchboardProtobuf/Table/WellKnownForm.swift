/// The well-known types whose JSON form is not an object with the fields.
///
/// A message with a table that is of such a type has that form, too: the message that the runtime has for the type
/// reads and writes it, and binary carries the fields from one to the other.
struct WellKnownForm {
  let type: any CustomJSON.Type

  init?(messageName: String) {
    guard let type = TypeRegistry.wellKnown[messageName] as? any CustomJSON.Type else { return nil }
    self.type = type
  }

  var isAny: Bool { type == Google_Protobuf_Any.self }
}

extension TableMessage {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    guard let form = table.form else { return try decoder.object(into: &self) }
    try merge(form.type, from: &decoder)
  }

  private mutating func merge<M: CustomJSON>(
    _ type: M.Type,
    from decoder: inout JSONMessageDecoder
  ) throws(DecodeError) {
    var message = M()
    try message.merge(from: &decoder)
    try replaceFields(with: message)
  }

  /// Makes the fields those of a message of the same type.
  mutating func replaceFields(with message: some Message) throws(DecodeError) {
    do throws(EncodeError) {
      let bytes = try message.serializedBytes(partial: true)
      self = TableMessage(table)
      try? merge(bytes, options: .unlimited)  // written a moment ago
    } catch {
      throw DecodeError(.malformed(error.description))
    }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    guard let form = table.form else { return try encoder.object(self) }
    try encode(as: form.type, to: &encoder)
  }

  private func encode<M: CustomJSON>(
    as type: M.Type,
    to encoder: inout JSONMessageEncoder
  ) throws(EncodeError) {
    try typed(as: type).encode(to: &encoder)
  }

  /// The fields as a message of the same type that the runtime has. A descriptor may say that a type of that name has
  /// other fields.
  func typed<M: Message>(as type: M.Type) throws(EncodeError) -> M {
    let bytes = try serializedBytes(partial: true)
    do throws(DecodeError) {
      return try M(serializedBytes: bytes, partial: true, options: .unlimited)
    } catch {
      throw EncodeError(
        .unrepresentable("\(table.fullName) with other fields than the well-known type: \(error)")
      )
    }
  }

  /// Reads an encoded message and merges it into this one.
  mutating func merge(_ bytes: [UInt8], options: BinaryDecodingOptions) throws(DecodeError) {
    try bytes.span.bytes.withUnsafeBytes { bytes throws(DecodeError) in
      var decoder = TableDecoder(bytes, options: options)
      try decoder.fields(into: &self)
    }
  }
}

extension BinaryDecodingOptions {
  /// For bytes that were just written: the nesting was checked when the message was made.
  fileprivate static var unlimited: BinaryDecodingOptions {
    var options = BinaryDecodingOptions()
    options.messageDepthLimit = .max
    return options
  }
}
