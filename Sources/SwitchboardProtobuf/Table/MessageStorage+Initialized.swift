extension MessageStorage {
  /// Whether every required field is set, in this message and in all messages in it.
  var isInitialized: Bool {
    let table = table
    guard table.needsInitialization else { return true }
    return extensionFields.isInitialized
      && table.entries.allSatisfy { entry in
        if entry.isRequired, !isSet(entry) { return false }
        guard entry.type.isMessage, table.message(of: entry).needsInitialization, isSet(entry) else {
          return true
        }
        switch entry.shape {
        case .map: return areInitialized(entry, key: entry.keyType.mapKey(checksUTF8: true))
        case .repeated: return (many(entry, as: [MessageStorage].self) ?? []).allSatisfy(\.isInitialized)
        case .singular, .oneof: return message(entry)?.isInitialized ?? true
        }
      }
  }

  private func areInitialized<K: MapKeyType>(_ entry: TableEntry, key: K.Type) -> Bool {
    (many(entry, as: [K.Value: MessageStorage].self) ?? [:]).values.allSatisfy(\.isInitialized)
  }
}
