extension MessageStorage {
  /// Whether every required field is set, in this message and in all messages in it.
  var isInitialized: Bool { pathToMissingField() == nil }

  /// The names of the fields that lead to a required field that is not set, the outermost first; `nil` if all are set.
  func pathToMissingField() -> [String]? {
    let table = table
    guard table.needsInitialization else { return nil }
    if let name = extensionFields.nameOfUninitialized { return ["[\(name)]"] }
    for entry in table.entries {
      if entry.isRequired, !isSet(entry) { return [table.names.name(of: entry.number)] }
      guard entry.type.isMessage, table.message(of: entry).needsInitialization, isSet(entry),
        let path = pathToMissingField(in: entry)
      else { continue }
      return [table.names.name(of: entry.number)] + path
    }
    return nil
  }

  /// Fails, after reading a message, if a required field is not set. The caller adds the name of the message.
  func checkDecoded() throws(DecodeError) {
    if let path = pathToMissingField() { throw DecodeError(.missingRequiredField, at: path) }
  }

  /// Fails, before writing a message, if a required field is not set.
  func checkEncodable() throws(EncodeError) {
    guard let path = pathToMissingField() else { return }
    throw EncodeError(.missingRequiredField, at: [table.simpleName] + path)
  }

  /// The same below the messages of a field.
  private func pathToMissingField(in entry: TableEntry) -> [String]? {
    switch entry.shape {
    case .map: pathInMap(entry, key: entry.keyType.mapKey(checksUTF8: true))
    case .repeated: (many(entry, as: [MessageStorage].self) ?? []).firstPathToMissingField()
    case .singular, .oneof: message(entry)?.pathToMissingField()
    }
  }

  private func pathInMap<K: MapKeyType>(_ entry: TableEntry, key: K.Type) -> [String]? {
    (many(entry, as: [K.Value: MessageStorage].self) ?? [:]).values.firstPathToMissingField()
  }
}

extension Sequence<MessageStorage> {
  fileprivate func firstPathToMissingField() -> [String]? {
    for message in self {
      if let path = message.pathToMissingField() { return path }
    }
    return nil
  }
}
