extension MessageStorage {
  /// Reads a field from a format that finds fields by name, and merges it into this message. Binary has its own decoder.
  mutating func decodeField<Decoder: NamedFieldDecoder>(
    _ number: Int32,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    let table = table
    guard let index = table.index(of: number) else {
      guard let field = decoder.extensions?.field(of: table, number: number) else { return }
      return try field.decode(into: &extensionFields, from: &decoder)
    }
    let entry = table.entries[index]
    makeUnique()
    decoder.fieldEnum = table.enumeration(of: entry)
    switch entry.shape {
    case .map: try decodeMap(entry, of: table, from: &decoder)
    case .repeated: try decodeElements(entry, of: table, from: &decoder)
    case .oneof:
      try decoder.oneof(isSet: object.member(entry.offset) != 0) { decoder throws(DecodeError) in
        try decodeMember(entry, of: table, from: &decoder)
      }
    case .singular:
      if entry.type.isMessage {
        var value = take(entry, as: MessageStorage.self)
        defer { put(value, in: entry) }
        try decode(&value, entry, of: table, from: &decoder)
      } else if entry.type == .enumeration {
        if decoder.fieldEnum?.isNullValue == true {
          try decodeEnum(entry, as: TableNullValue.self, from: &decoder)
        } else {
          try decodeEnum(entry, as: TableEnum.self, from: &decoder)
        }
      } else {
        try decodeScalar(entry, from: &decoder)
      }
    }
  }

  // MARK: Singular

  private func decode<Decoder: NamedFieldDecoder>(
    _ value: inout MessageStorage?,
    _ entry: TableEntry,
    of table: TableData,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    if entry.type == .group {
      try decoder.group(&value, of: table.message(of: entry))
    } else {
      try decoder.message(&value, of: table.message(of: entry))
    }
  }

  /// Reads a value by its type. Unlike a type that is looked up at run time, the cases are specialized for each type,
  /// if the decoder's methods are.
  private mutating func decodeScalar<Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    guard Decoder.isSpecialized else {
      return try decodeScalar(entry, as: entry.scalarType, from: &decoder)
    }
    switch entry.type {
    case .int32: try decodeScalar(entry, as: ProtoInt32.self, from: &decoder)
    case .int64: try decodeScalar(entry, as: ProtoInt64.self, from: &decoder)
    case .uint32: try decodeScalar(entry, as: ProtoUInt32.self, from: &decoder)
    case .uint64: try decodeScalar(entry, as: ProtoUInt64.self, from: &decoder)
    case .sint32: try decodeScalar(entry, as: ProtoSInt32.self, from: &decoder)
    case .sint64: try decodeScalar(entry, as: ProtoSInt64.self, from: &decoder)
    case .fixed32: try decodeScalar(entry, as: ProtoFixed32.self, from: &decoder)
    case .fixed64: try decodeScalar(entry, as: ProtoFixed64.self, from: &decoder)
    case .sfixed32: try decodeScalar(entry, as: ProtoSFixed32.self, from: &decoder)
    case .sfixed64: try decodeScalar(entry, as: ProtoSFixed64.self, from: &decoder)
    case .float: try decodeScalar(entry, as: ProtoFloat.self, from: &decoder)
    case .double: try decodeScalar(entry, as: ProtoDouble.self, from: &decoder)
    case .bool: try decodeScalar(entry, as: ProtoBool.self, from: &decoder)
    case .string where entry.checksUTF8: try decodeScalar(entry, as: ProtoString.self, from: &decoder)
    case .string: try decodeScalar(entry, as: ProtoUncheckedString.self, from: &decoder)
    default: try decodeScalar(entry, as: ProtoBytes.self, from: &decoder)
    }
  }

  private mutating func decodeScalar<S: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    if entry.presence == .implicit {
      var value = self.scalar(entry, as: S.Value.self) ?? S.protoDefault
      try decoder.singular(&value, as: scalar)
      set(entry, to: value)
    } else {
      var value = isSet(entry) ? self.scalar(entry, as: S.Value.self) : nil
      try decoder.optional(&value, as: scalar)
      if let value { set(entry, to: value) }
    }
  }

  /// Reads an enum, which a slot stores as a number.
  private mutating func decodeEnum<S: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) where S.Value == TableEnum.Value {
    let type = decoder.fieldEnum
    if entry.presence == .implicit {
      var value = TableEnum.Value(number: self.scalar(entry, as: Int32.self) ?? 0, type: type)
      try decoder.singular(&value, as: scalar)
      set(entry, to: value.number)
    } else {
      var value = isSet(entry) ? enumeration(entry, type) : nil
      try decoder.optional(&value, as: scalar)
      if let value { set(entry, to: value.number) }
    }
  }

  /// Reads a member of a oneof, which replaces the old value. Returns whether there was a value.
  private mutating func decodeMember<Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    of table: TableData,
    from decoder: inout Decoder
  ) throws(DecodeError) -> Bool {
    if entry.type.isMessage {
      var value: MessageStorage?
      try decode(&value, entry, of: table, from: &decoder)
      put(value, in: entry)
      return value != nil
    }
    guard entry.type == .enumeration else {
      return try decodeMember(entry, as: entry.scalarType, from: &decoder)
    }
    return decoder.fieldEnum?.isNullValue == true
      ? try decodeEnumMember(entry, as: TableNullValue.self, from: &decoder)
      : try decodeEnumMember(entry, as: TableEnum.self, from: &decoder)
  }

  private mutating func decodeMember<S: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) -> Bool {
    var value: S.Value?
    try decoder.optional(&value, as: scalar)
    if let value { set(entry, to: value) }
    return value != nil
  }

  private mutating func decodeEnumMember<S: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) -> Bool where S.Value == TableEnum.Value {
    var value: S.Value?
    try decoder.optional(&value, as: scalar)
    if let value { set(entry, to: value.number) }
    return value != nil
  }

  // MARK: Repeated

  private mutating func decodeElements<Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    of table: TableData,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    switch entry.type {
    case .message, .group:
      var values = take(entry, as: [MessageStorage].self) ?? []
      defer { put(values.isEmpty ? nil : values, in: entry) }
      if entry.type == .group {
        try decoder.groups(&values, of: table.message(of: entry))
      } else {
        try decoder.messages(&values, of: table.message(of: entry))
      }
    case .enumeration:
      if let type = decoder.fieldEnum?.type {
        try decodeElements(entry, as: type, from: &decoder)
      } else if decoder.fieldEnum?.isNullValue == true {
        try decodeNumbers(entry, as: TableNullValue.self, from: &decoder)
      } else {
        try decodeNumbers(entry, as: TableEnum.self, from: &decoder)
      }
    default: try decodeScalars(entry, from: &decoder)
    }
  }

  private mutating func decodeScalars<Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    guard Decoder.isSpecialized else {
      return try decodeElements(entry, as: entry.scalarType, from: &decoder)
    }
    switch entry.type {
    case .int32: try decodeElements(entry, as: ProtoInt32.self, from: &decoder)
    case .int64: try decodeElements(entry, as: ProtoInt64.self, from: &decoder)
    case .uint32: try decodeElements(entry, as: ProtoUInt32.self, from: &decoder)
    case .uint64: try decodeElements(entry, as: ProtoUInt64.self, from: &decoder)
    case .sint32: try decodeElements(entry, as: ProtoSInt32.self, from: &decoder)
    case .sint64: try decodeElements(entry, as: ProtoSInt64.self, from: &decoder)
    case .fixed32: try decodeElements(entry, as: ProtoFixed32.self, from: &decoder)
    case .fixed64: try decodeElements(entry, as: ProtoFixed64.self, from: &decoder)
    case .sfixed32: try decodeElements(entry, as: ProtoSFixed32.self, from: &decoder)
    case .sfixed64: try decodeElements(entry, as: ProtoSFixed64.self, from: &decoder)
    case .float: try decodeElements(entry, as: ProtoFloat.self, from: &decoder)
    case .double: try decodeElements(entry, as: ProtoDouble.self, from: &decoder)
    case .bool: try decodeElements(entry, as: ProtoBool.self, from: &decoder)
    case .string where entry.checksUTF8: try decodeElements(entry, as: ProtoString.self, from: &decoder)
    case .string: try decodeElements(entry, as: ProtoUncheckedString.self, from: &decoder)
    default: try decodeElements(entry, as: ProtoBytes.self, from: &decoder)
    }
  }

  private mutating func decodeElements<S: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    var values = take(entry, as: [S.Value].self) ?? []
    defer { put(values.isEmpty ? nil : values, in: entry) }
    try decoder.repeated(&values, as: scalar)
  }

  private mutating func decodeNumbers<S: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) where S.Value == TableEnum.Value {
    // Only the new values: the existing ones need no enum.
    var new: [TableEnum.Value] = []
    try decoder.repeated(&new, as: scalar)
    var values = take(entry, as: [Int32].self) ?? []
    values += new.map(\.number)
    put(values.isEmpty ? nil : values, in: entry)
  }

  // MARK: Maps

  private mutating func decodeMap<Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    of table: TableData,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    let key = entry.keyType.mapKey(checksUTF8: entry.checksUTF8)
    if entry.type.isMessage {
      try decodeMessages(entry, key: key, of: table.message(of: entry), from: &decoder)
    } else if entry.keyType == .string, entry.type == .string, entry.checksUTF8 {
      try decodeScalars(entry, key: ProtoString.self, value: ProtoString.self, from: &decoder)
    } else if entry.type != .enumeration {
      try decodeScalars(entry, key: key, value: entry.scalarType, from: &decoder)
    } else if let type = decoder.fieldEnum?.type {
      try decodeScalars(entry, key: key, value: type, from: &decoder)
    } else if decoder.fieldEnum?.isNullValue == true {
      try decodeNumbers(entry, key: key, value: TableNullValue.self, from: &decoder)
    } else {
      try decodeNumbers(entry, key: key, value: TableEnum.self, from: &decoder)
    }
  }

  private mutating func decodeMessages<K: MapKeyType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    key: K.Type,
    of table: TableData,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    var entries = take(entry, as: [K.Value: MessageStorage].self) ?? [:]
    defer { put(entries.isEmpty ? nil : entries, in: entry) }
    try decoder.messageMap(&entries, key: key, of: table)
  }

  private mutating func decodeScalars<K: MapKeyType, V: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    key: K.Type,
    value: V.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    var entries = take(entry, as: [K.Value: V.Value].self) ?? [:]
    defer { put(entries.isEmpty ? nil : entries, in: entry) }
    try decoder.map(&entries, key: key, value: value)
  }

  private mutating func decodeNumbers<K: MapKeyType, V: ScalarType, Decoder: NamedFieldDecoder>(
    _ entry: TableEntry,
    key: K.Type,
    value: V.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) where V.Value == TableEnum.Value {
    var new: [K.Value: TableEnum.Value] = [:]
    let initial = decoder.fieldEnum?.defaultNumber ?? 0
    try decoder.map(&new, key: key, value: value)
    var entries = take(entry, as: [K.Value: Int32].self) ?? [:]
    entries.merge(new.lazy.map { ($0, $1.type == nil ? initial : $1.number) }) { $1 }
    put(entries.isEmpty ? nil : entries, in: entry)
  }
}
