import SwitchboardText

/// The well-known types whose JSON form is not an object with the fields.
///
/// A dynamic message of such a type has that form too: the runtime's own message of the type reads and writes the JSON,
/// and the fields are transferred in binary.
struct WellKnownForm {
  let type: any CustomJSON.Type

  /// Whether a message with this name may have such a form. Almost none may, and to look the name up takes longer.
  static func mayBe(of messageName: String) -> Bool { messageName.begins(with: "google.protobuf.") }

  init?(messageName: String) {
    guard let type = TypeRegistry.wellKnown[messageName] as? any CustomJSON.Type else { return nil }
    self.type = type
  }

  var isAny: Bool { type == Google_Protobuf_Any.self }
}

extension TableData {
  /// Whether JSON's `null` is a value of the message rather than an absent one.
  var acceptsJSONNull: Bool { form?.type.acceptsJSONNull ?? false }
}

extension MessageStorage {
  /// Reads a JSON value and merges it into this message.
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    try decoder.objects.claim(table)
    guard let form = table.form else { return try decoder.object(into: &self) }
    try merge(form.type, from: &decoder)
  }

  private mutating func merge<M: CustomJSON>(
    _ type: M.Type,
    from decoder: inout JSONMessageDecoder
  ) throws(DecodeError) {
    guard table == M._table else {
      var message = M()
      try message.merge(from: &decoder)
      return try replaceFields(with: message)
    }
    var message = message(as: type)
    self = MessageStorage(table)  // so that the message is changed in place
    defer { self = message._storage }
    try message.merge(from: &decoder)
  }

  /// Replaces the fields by those of a message of the same type. Throws if this message's descriptor declares other
  /// fields, which cannot hold the values.
  mutating func replaceFields(with message: some Message) throws(DecodeError) {
    guard message._storage.table != table else {
      self = message._storage
      return
    }
    var replaced = MessageStorage(table)
    do throws(EncodeError) {
      let bytes = try message.serializedBytes(partial: true)
      do throws(DecodeError) {
        // A message may contain many that are rewritten, each with a budget of its own.
        try replaced.merge(bytes.span.bytes, options: .rewritten, spareMemory: 512)
      } catch {
        throw otherFields(error)
      }
    } catch {
      throw DecodeError(.malformed(error.description))
    }
    self = replaced
  }

  /// Writes this message as a JSON value.
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

  /// Converts the fields to the runtime's own message of the type. Throws if this message's descriptor declares other
  /// fields.
  func typed<M: Message>(as type: M.Type) throws(EncodeError) -> M {
    if table == M._table { return message(as: type) }
    let bytes = try serializedBytes(partial: true)
    do throws(DecodeError) {
      return try M(serializedBytes: bytes, partial: true, options: .rewritten)
    } catch {
      throw otherFields(error)
    }
  }

  private func otherFields(_ error: DecodeError) -> EncodeError {
    EncodeError(.unrepresentable("\(table.fullName) with other fields than the well-known type: \(error)"))
  }
}

extension BinaryDecodingOptions {
  /// The options for bytes that were just written from the same message. Its depth was checked when it was read, but if
  /// a descriptor declares other fields, bytes may become messages. A level of JSON is up to three levels of messages:
  /// in a `Struct`, a map entry and a `Value` are between two levels.
  static var rewritten: BinaryDecodingOptions {
    var options = BinaryDecodingOptions()
    options.messageDepthLimit = 3 * options.messageDepthLimit + 8
    return options
  }
}
