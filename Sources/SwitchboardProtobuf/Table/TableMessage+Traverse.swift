extension TableMessage {
  func traverse<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(EncodeError) {
    let table = table
    if table.isMessageSet {
      try visitor.messageSet(messageSetItems)
    } else {
      for (index, entry) in table.entries.enumerated() {
        try visit(entry, table.enums[index], with: &visitor)
      }
    }
    try visitor.unknown(unknownFields)
  }

  private func visit<Visitor: FieldVisitor>(
    _ entry: TableEntry,
    _ type: EnumTable?,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let isSet = isSet(entry)
    // What an option may have written although it is empty; an extension never is.
    guard isSet || !entry.isExtension && entry.shape != .oneof else { return }
    switch entry.shape {
    case .map: try visitMap(entry, type, with: &visitor)
    case .repeated: try visitElements(entry, type, with: &visitor)
    case .singular, .oneof:
      if entry.type.isMessage {
        let value = message(entry)
        if entry.type == .group {
          try visitor.group(value, number: entry.number)
        } else {
          try visitor.message(value, number: entry.number)
        }
      } else if entry.type == .enumeration {
        try visitScalar(enumeration(entry, type), entry, isSet, as: TableEnum.self, with: &visitor)
      } else {
        try visitScalar(entry, isSet, as: entry.type.scalar(checksUTF8: entry.checksUTF8), with: &visitor)
      }
    }
  }

  private func visitScalar<S: ScalarType, Visitor: FieldVisitor>(
    _ entry: TableEntry,
    _ isSet: Bool,
    as scalar: S.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitScalar(self.scalar(entry, as: S.Value.self), entry, isSet, as: scalar, with: &visitor)
  }

  private func visitScalar<S: ScalarType, Visitor: FieldVisitor>(
    _ value: S.Value?,
    _ entry: TableEntry,
    _ isSet: Bool,
    as scalar: S.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    if entry.shape == .singular, entry.presence == .implicit {
      try visitor.implicit(value ?? S.protoDefault, as: scalar, number: entry.number)
    } else {
      try visitor.explicit(isSet ? value : nil, as: scalar, number: entry.number)
    }
  }

  // MARK: Repeated fields

  private func visitElements<Visitor: FieldVisitor>(
    _ entry: TableEntry,
    _ type: EnumTable?,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    switch entry.type {
    case .message: try visitor.messages(many(entry, as: [TableMessage].self) ?? [], number: entry.number)
    case .group: try visitor.groups(many(entry, as: [TableMessage].self) ?? [], number: entry.number)
    case .enumeration:
      let numbers = many(entry, as: [Int32].self) ?? []
      let values = numbers.map { TableEnum.Value(number: $0, type: type) }
      try visitElements(values, entry, as: TableEnum.self, with: &visitor)
    default: try visitElements(entry, as: entry.type.scalar(checksUTF8: entry.checksUTF8), with: &visitor)
    }
  }

  private func visitElements<S: ScalarType, Visitor: FieldVisitor>(
    _ entry: TableEntry,
    as scalar: S.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitElements(many(entry, as: [S.Value].self) ?? [], entry, as: scalar, with: &visitor)
  }

  private func visitElements<S: ScalarType, Visitor: FieldVisitor>(
    _ values: [S.Value],
    _ entry: TableEntry,
    as scalar: S.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    if entry.isPacked {
      try visitor.packed(values, as: scalar, number: entry.number)
    } else {
      try visitor.repeated(values, as: scalar, number: entry.number)
    }
  }

  // MARK: Maps

  private func visitMap<Visitor: FieldVisitor>(
    _ entry: TableEntry,
    _ type: EnumTable?,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let key = entry.keyType.mapKey(checksUTF8: entry.checksUTF8)
    if entry.type.isMessage {
      try visitMessages(entry, key: key, with: &visitor)
    } else if entry.type == .enumeration {
      try visitEnums(entry, type, key: key, with: &visitor)
    } else {
      let value = entry.type.scalar(checksUTF8: entry.checksUTF8)
      try visitScalars(entry, key: key, value: value, with: &visitor)
    }
  }

  private func visitMessages<K: MapKeyType, Visitor: FieldVisitor>(
    _ entry: TableEntry,
    key: K.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let entries = many(entry, as: [K.Value: TableMessage].self) ?? [:]
    try visitor.messageMap(entries, key: key, number: entry.number)
  }

  private func visitEnums<K: MapKeyType, Visitor: FieldVisitor>(
    _ entry: TableEntry,
    _ type: EnumTable?,
    key: K.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let numbers = many(entry, as: [K.Value: Int32].self) ?? [:]
    let entries = numbers.mapValues { TableEnum.Value(number: $0, type: type) }
    try visitor.map(entries, key: key, value: TableEnum.self, number: entry.number)
  }

  private func visitScalars<K: MapKeyType, V: ScalarType, Visitor: FieldVisitor>(
    _ entry: TableEntry,
    key: K.Type,
    value: V.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let entries = many(entry, as: [K.Value: V.Value].self) ?? [:]
    try visitor.map(entries, key: key, value: value, number: entry.number)
  }

  // MARK: MessageSet

  /// The extensions of a MessageSet, which all are messages.
  private var messageSetItems: ExtensionFields {
    var items = ExtensionFields()
    let table = table
    for (index, entry) in table.entries.enumerated() {
      guard let value = message(entry) else { continue }
      let name = String(table.fields[index].name.dropFirst().dropLast())
      items.append(value, number: entry.number, fullName: name)
    }
    return items
  }
}
