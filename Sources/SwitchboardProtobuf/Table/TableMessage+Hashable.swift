extension TableMessage {
  static func == (left: TableMessage, right: TableMessage) -> Bool {
    if left.object === right.object { return true }
    let table = left.table
    guard table === right.table else { return false }
    return table.entries.allSatisfy { left.agrees(with: right, in: $0) }
      && left.unknownFields == right.unknownFields
  }

  private func agrees(with other: TableMessage, in entry: TableEntry) -> Bool {
    guard isSet(entry) || other.isSet(entry) else { return true }
    if entry.shape == .map {
      let key = entry.keyType.mapKey(checksUTF8: true)
      if entry.type.isMessage { return agrees(with: other, in: entry, key: key, values: TableMessage.self) }
      if entry.type == .enumeration { return agrees(with: other, in: entry, key: key, values: Int32.self) }
      return agrees(with: other, in: entry, key: key, scalar: entry.type.scalar(checksUTF8: true))
    }
    if entry.shape == .singular, entry.presence != .implicit || entry.type.isMessage,
      isSet(entry) != other.isSet(entry)
    {
      return false
    }
    if entry.shape == .oneof, isSet(entry) != other.isSet(entry) { return false }
    if entry.type.isMessage {
      return entry.shape == .repeated
        ? agreesInMany(with: other, in: entry, as: [TableMessage].self, empty: [])
        : message(entry) == other.message(entry)
    }
    if entry.type == .enumeration { return agrees(with: other, in: entry, scalar: ProtoInt32.self) }
    return agrees(with: other, in: entry, scalar: entry.type.scalar(checksUTF8: true))
  }

  private func agrees<S: ScalarType>(with other: TableMessage, in entry: TableEntry, scalar: S.Type) -> Bool {
    if entry.shape == .repeated { return agreesInMany(with: other, in: entry, as: [S.Value].self, empty: []) }
    let left = self.scalar(entry, as: S.Value.self) ?? S.protoDefault
    return left == other.scalar(entry, as: S.Value.self) ?? S.protoDefault
  }

  private func agrees<K: MapKeyType, V: ScalarType>(
    with other: TableMessage,
    in entry: TableEntry,
    key: K.Type,
    scalar: V.Type
  ) -> Bool {
    agrees(with: other, in: entry, key: key, values: V.Value.self)
  }

  private func agrees<K: MapKeyType, Value: Equatable>(
    with other: TableMessage,
    in entry: TableEntry,
    key: K.Type,
    values: Value.Type
  ) -> Bool {
    agreesInMany(with: other, in: entry, as: [K.Value: Value].self, empty: [:])
  }

  private func agreesInMany<Collection: Equatable>(
    with other: TableMessage,
    in entry: TableEntry,
    as type: Collection.Type,
    empty: Collection
  ) -> Bool {
    (many(entry, as: type) ?? empty) == (other.many(entry, as: type) ?? empty)
  }
}
