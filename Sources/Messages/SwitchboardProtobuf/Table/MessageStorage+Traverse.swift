extension MessageStorage {
  /// Passes every field to a visitor, in the order of the field numbers, unknown fields last.
  func traverse<Visitor: MessageVisitor>(_ visitor: inout Visitor) throws(EncodeError) {
    let table = table
    if table.isMessageSet {
      try visitor.messageSet(messageSetItems)
    } else {
      let extensions = extensionFields
      var bound: Int32 = 0
      for entry in table.entries {
        if !extensions.isEmpty { try visitor.extensions(extensions, in: bound..<entry.number) }
        bound = entry.number
        try visit(entry, of: table, with: &visitor)
      }
      if !extensions.isEmpty { try visitor.extensions(extensions, in: bound..<Int32.max) }
    }
    try visitor.unknown(unknownFields)
  }

  private func visit<Visitor: MessageVisitor>(
    _ entry: TableEntry,
    of table: TableData,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let isSet = isSet(entry)
    // An option may make a visitor write empty fields, but not extensions or members of oneofs.
    guard isSet || !entry.isExtension && entry.shape != .oneof else { return }
    switch entry.shape {
    case .map: try visitMap(entry, of: table, with: &visitor)
    case .repeated: try visitElements(entry, of: table, with: &visitor)
    case .singular, .oneof:
      if entry.type.isMessage {
        let value = message(entry)
        if entry.type == .group {
          try visitor.group(value, number: entry.number)
        } else {
          try visitor.message(value, number: entry.number)
        }
      } else if entry.type == .enumeration {
        let value = enumeration(entry, table.enumeration(of: entry))
        try visitScalar(value, entry, isSet, as: TableEnum.self, with: &visitor)
      } else {
        try visitScalar(entry, isSet, with: &visitor)
      }
    }
  }

  /// Passes on a value by its type. Unlike a type that is looked up at run time, the cases are specialized for each
  /// type, if the visitor's methods are.
  private func visitScalar<Visitor: MessageVisitor>(
    _ entry: TableEntry,
    _ isSet: Bool,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    guard Visitor.isSpecialized else {
      return try visitScalar(entry, isSet, as: entry.scalarType, with: &visitor)
    }
    switch entry.type {
    case .int32: try visitScalar(entry, isSet, as: ProtoInt32.self, with: &visitor)
    case .int64: try visitScalar(entry, isSet, as: ProtoInt64.self, with: &visitor)
    case .uint32: try visitScalar(entry, isSet, as: ProtoUInt32.self, with: &visitor)
    case .uint64: try visitScalar(entry, isSet, as: ProtoUInt64.self, with: &visitor)
    case .sint32: try visitScalar(entry, isSet, as: ProtoSInt32.self, with: &visitor)
    case .sint64: try visitScalar(entry, isSet, as: ProtoSInt64.self, with: &visitor)
    case .fixed32: try visitScalar(entry, isSet, as: ProtoFixed32.self, with: &visitor)
    case .fixed64: try visitScalar(entry, isSet, as: ProtoFixed64.self, with: &visitor)
    case .sfixed32: try visitScalar(entry, isSet, as: ProtoSFixed32.self, with: &visitor)
    case .sfixed64: try visitScalar(entry, isSet, as: ProtoSFixed64.self, with: &visitor)
    case .float: try visitScalar(entry, isSet, as: ProtoFloat.self, with: &visitor)
    case .double: try visitScalar(entry, isSet, as: ProtoDouble.self, with: &visitor)
    case .bool: try visitScalar(entry, isSet, as: ProtoBool.self, with: &visitor)
    case .string where entry.checksUTF8: try visitScalar(entry, isSet, as: ProtoString.self, with: &visitor)
    case .string: try visitScalar(entry, isSet, as: ProtoUncheckedString.self, with: &visitor)
    default: try visitScalar(entry, isSet, as: ProtoBytes.self, with: &visitor)
    }
  }

  private func visitScalar<S: ScalarType, Visitor: MessageVisitor>(
    _ entry: TableEntry,
    _ isSet: Bool,
    as scalar: S.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitScalar(self.scalar(entry, as: S.Value.self), entry, isSet, as: scalar, with: &visitor)
  }

  private func visitScalar<S: ScalarType, Visitor: MessageVisitor>(
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

  private func visitElements<Visitor: MessageVisitor>(
    _ entry: TableEntry,
    of table: TableData,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    switch entry.type {
    case .message: try visitor.messages(many(entry, as: [MessageStorage].self) ?? [], number: entry.number)
    case .group: try visitor.groups(many(entry, as: [MessageStorage].self) ?? [], number: entry.number)
    case .enumeration:
      let enumeration = table.enumeration(of: entry)
      if let type = enumeration?.type { return try visitElements(entry, as: type, with: &visitor) }
      let numbers = many(entry, as: [Int32].self) ?? []
      let values = numbers.map { TableEnum.Value(number: $0, type: enumeration) }
      try visitElements(values, entry, as: TableEnum.self, with: &visitor)
    default: try visitScalars(entry, with: &visitor)
    }
  }

  private func visitScalars<Visitor: MessageVisitor>(
    _ entry: TableEntry,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    guard Visitor.isSpecialized else {
      return try visitElements(entry, as: entry.scalarType, with: &visitor)
    }
    switch entry.type {
    case .int32: try visitElements(entry, as: ProtoInt32.self, with: &visitor)
    case .int64: try visitElements(entry, as: ProtoInt64.self, with: &visitor)
    case .uint32: try visitElements(entry, as: ProtoUInt32.self, with: &visitor)
    case .uint64: try visitElements(entry, as: ProtoUInt64.self, with: &visitor)
    case .sint32: try visitElements(entry, as: ProtoSInt32.self, with: &visitor)
    case .sint64: try visitElements(entry, as: ProtoSInt64.self, with: &visitor)
    case .fixed32: try visitElements(entry, as: ProtoFixed32.self, with: &visitor)
    case .fixed64: try visitElements(entry, as: ProtoFixed64.self, with: &visitor)
    case .sfixed32: try visitElements(entry, as: ProtoSFixed32.self, with: &visitor)
    case .sfixed64: try visitElements(entry, as: ProtoSFixed64.self, with: &visitor)
    case .float: try visitElements(entry, as: ProtoFloat.self, with: &visitor)
    case .double: try visitElements(entry, as: ProtoDouble.self, with: &visitor)
    case .bool: try visitElements(entry, as: ProtoBool.self, with: &visitor)
    case .string where entry.checksUTF8: try visitElements(entry, as: ProtoString.self, with: &visitor)
    case .string: try visitElements(entry, as: ProtoUncheckedString.self, with: &visitor)
    default: try visitElements(entry, as: ProtoBytes.self, with: &visitor)
    }
  }

  private func visitElements<S: ScalarType, Visitor: MessageVisitor>(
    _ entry: TableEntry,
    as scalar: S.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    try visitElements(many(entry, as: [S.Value].self) ?? [], entry, as: scalar, with: &visitor)
  }

  private func visitElements<S: ScalarType, Visitor: MessageVisitor>(
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

  private func visitMap<Visitor: MessageVisitor>(
    _ entry: TableEntry,
    of table: TableData,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let key = entry.keyType.mapKey(checksUTF8: entry.checksUTF8)
    if entry.type.isMessage {
      try visitMessages(entry, key: key, with: &visitor)
    } else if entry.type == .enumeration {
      let enumeration = table.enumeration(of: entry)
      if let type = enumeration?.type {
        try visitScalars(entry, key: key, value: type, with: &visitor)
      } else {
        try visitEnums(entry, enumeration, key: key, with: &visitor)
      }
    } else if entry.keyType == .string, entry.type == .string {
      try visitScalars(entry, key: ProtoString.self, value: ProtoString.self, with: &visitor)
    } else {
      try visitScalars(entry, key: key, value: entry.scalarType, with: &visitor)
    }
  }

  private func visitMessages<K: MapKeyType, Visitor: MessageVisitor>(
    _ entry: TableEntry,
    key: K.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let entries = many(entry, as: [K.Value: MessageStorage].self) ?? [:]
    try visitor.messageMap(entries, key: key, number: entry.number)
  }

  private func visitEnums<K: MapKeyType, Visitor: MessageVisitor>(
    _ entry: TableEntry,
    _ type: EnumTable?,
    key: K.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let numbers = many(entry, as: [K.Value: Int32].self) ?? [:]
    let entries = numbers.mapValues { TableEnum.Value(number: $0, type: type) }
    try visitor.map(entries, key: key, value: TableEnum.self, number: entry.number)
  }

  private func visitScalars<K: MapKeyType, V: ScalarType, Visitor: MessageVisitor>(
    _ entry: TableEntry,
    key: K.Type,
    value: V.Type,
    with visitor: inout Visitor
  ) throws(EncodeError) {
    let entries = many(entry, as: [K.Value: V.Value].self) ?? [:]
    try visitor.map(entries, key: key, value: value, number: entry.number)
  }

  // MARK: MessageSet

  /// The extensions of a MessageSet, which are all messages. In a dynamic message, extensions are fields.
  var messageSetItems: ExtensionFields {
    let table = table
    if table.isExtensible { return extensionFields }
    var items = ExtensionFields()
    for entry in table.entries {
      guard let value = message(entry) else { continue }
      let name = String(table.names.name(of: entry.number).dropFirst().dropLast())
      items.append(value, number: entry.number, fullName: name)
    }
    return items
  }
}
