// Generated messages whose fields are found by a description, for servers that fill them from other things than a whole
// encoded message.
extension DynamicMessage {
  /// The fields of a generated message. Its table has the fields, but does not list them: `type` tells only its name.
  package init(_ message: some Message) { self.init(message._storage) }

  /// The fields as a generated message: without a copy, if it has their table.
  package func typed<M: Message>(as type: M.Type) throws(EncodeError) -> M { try storage.typed(as: type) }

  /// Fails if a `required` field is not set.
  package func checkInitialized() throws(EncodeError) { try storage.checkEncodable() }

  /// The value of a field that is set.
  package func value(_ name: String) -> DynamicValue? {
    storage.table.index(ofName: name).flatMap { storage.value($0) }
  }
}

extension MessageTable {
  /// The table of a generated message, for a ``DynamicMessage``.
  package init(of type: any Message.Type) { self.init(type._table) }

  /// Whether a generated type has the fields that this one describes, and no others, in the messages of its fields too. A
  /// type is not generated with the extensions that a file declares.
  package func describes(_ type: any Message.Type) -> Bool {
    var seen: Set<TableData> = []
    var pending = [(data, type._table)]
    while let (described, generated) = pending.popLast() {
      guard seen.insert(described).inserted else { continue }
      guard described.describesFields(of: generated) else { return false }
      for (own, other) in zip(described.entries, generated.entries) where own.type.isMessage {
        pending.append((described.message(of: own), generated.message(of: other)))
      }
    }
    return true
  }
}

extension TableData {
  /// Whether both have the same fields, but for the fields of their messages.
  fileprivate func describesFields(of generated: TableData) -> Bool {
    fullName.isExactly(generated.fullName) && isMessageSet == generated.isMessageSet
      && entries.count == generated.entries.count
      && zip(entries, generated.entries)
        .allSatisfy { own, other in
          own.number == other.number && own.type == other.type && own.shape == other.shape
            && own.keyType == other.keyType && names.isSame(own.number, as: generated.names)
        }
  }
}

extension FieldNames {
  /// Whether a field has the same names in both.
  fileprivate func isSame(_ number: Int32, as other: FieldNames) -> Bool {
    name(of: number).isExactly(other.name(of: number))
      && (jsonName(of: number) ?? "").isExactly(other.jsonName(of: number) ?? "")
  }
}
