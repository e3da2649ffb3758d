// Single fields in JSON, for HTTP bodies and queries that contain only parts of a message.
extension DynamicMessage {
  /// Reads a JSON value into one field, as if it were the member of that name. Elements of repeated fields and entries
  /// of maps are added to the existing ones.
  package mutating func mergeField(
    _ field: TableField,
    jsonUTF8Bytes bytes: [UInt8],
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) {
    var decoder = try JSONMessageDecoder(bytes, extensions: nil, options: options)
    do throws(DecodeError) {
      try storage.decodeField(field.number, from: &decoder)
      try decoder.reader.finish()
    } catch {
      throw error.inField(field.name)
    }
  }

  /// The JSON value of one field; nil if it is not written.
  package func jsonUTF8Bytes(
    ofField field: TableField,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> [UInt8]? {
    guard let value = storage.table.index(of: field.number).flatMap({ storage.value($0) }) else { return nil }
    if case .message(let message) = value {
      return try message.jsonUTF8Bytes(partial: true, options: options)
    }
    if case .list(let values) = value, field.type == .message || field.type == .group {
      var bytes = [UInt8(ascii: "[")]
      for case .message(let message) in values {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes += try message.jsonUTF8Bytes(partial: true, options: options)
      }
      return bytes + [UInt8(ascii: "]")]
    }
    var only = DynamicMessage(type)
    do throws(DynamicFieldError) {
      try only.set(field, to: value)
    } catch {
      throw EncodeError(.unrepresentable(error.description))
    }
    var options = options
    options.alwaysPrintFieldsWithNoPresence = false
    let object = try only.jsonUTF8Bytes(partial: true, options: options)
    // The value is between the name of the only member and the end of the object.
    var key = JSONWriter(options: options)
    key.string(options.preserveProtoFieldNames ? field.name : field.jsonName)
    let start = 1 + key.count + 1
    guard object.count > start + 1 else { return nil }
    return Array(object[start..<(object.count - 1)])
  }
}

extension MessageTable {
  /// The field that a name in JSON refers to: its JSON name or its original name.
  package func field(inJSON name: String) -> TableField? {
    data.names.json.number(of: name).flatMap { field(numbered: $0) }
  }
}
