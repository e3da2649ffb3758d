extension TableMessage {
  /// Reads a field from JSON or text, the formats that find fields by name. Binary has its own decoder.
  mutating func decodeField<Decoder: FieldDecoder>(
    _ number: Int32,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    guard let index = table.index(of: number) else { return }
    // The type is known to be the other one: a cast would copy the decoder and what it read.
    try withUnsafeMutablePointer(to: &decoder) { decoder throws(DecodeError) in
      let address = UnsafeMutableRawPointer(decoder)
      if Decoder.self == JSONMessageDecoder.self {
        try decode(index, from: &address.assumingMemoryBound(to: JSONMessageDecoder.self).pointee)
      } else if Decoder.self == TextFormatDecoder.self {
        try decode(index, from: &address.assumingMemoryBound(to: TextFormatDecoder.self).pointee)
      }
    }
  }

  private mutating func decode<Decoder: TableFieldDecoder>(
    _ index: Int,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    let table = table
    let entry = table.entries[index]
    makeUnique()
    decoder.fieldTable = entry.type.isMessage ? table.message(of: entry) : nil
    decoder.fieldEnum = table.enums[index]
    switch entry.shape {
    case .map: try decodeMap(entry, from: &decoder)
    case .repeated: try decodeElements(entry, from: &decoder)
    case .singular, .oneof:
      if entry.type.isMessage {
        try decodeMessage(entry, from: &decoder)
      } else if entry.type != .enumeration {
        try decodeScalar(entry, as: entry.type.scalar(checksUTF8: entry.checksUTF8), from: &decoder)
      } else if table.enums[index]?.isNullValue == true {
        try decodeEnum(entry, as: TableNullValue.self, from: &decoder)
      } else {
        try decodeEnum(entry, as: TableEnum.self, from: &decoder)
      }
    }
  }

  // MARK: Singular

  private mutating func decodeMessage<Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    let isOneofSet = entry.shape == .oneof && object.member(entry.offset) != 0
    var value = take(entry, as: TableMessage.self)
    switch (entry.shape, entry.type) {
    case (.oneof, .group): try decoder.oneofGroup(&value, isSet: isOneofSet)
    case (.oneof, _): try decoder.oneofMessage(&value, isSet: isOneofSet)
    case (_, .group): try decoder.group(&value)
    default: try decoder.message(&value)
    }
    put(value, in: entry)
  }

  private mutating func decodeScalar<S: ScalarType, Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    let old = self.scalar(entry, as: S.Value.self)
    if let new = try decode(entry, scalar, old, from: &decoder) { set(entry, to: new) }
  }

  private mutating func decodeEnum<S: ScalarType, Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) where S.Value == TableEnum.Value {
    let old = enumeration(entry, nil)
    if let new = try decode(entry, scalar, old, from: &decoder) { set(entry, to: new.number) }
  }

  private func decode<S: ScalarType, Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    _ scalar: S.Type,
    _ old: S.Value?,
    from decoder: inout Decoder
  ) throws(DecodeError) -> S.Value? {
    if entry.shape == .oneof { return try decoder.oneof(scalar, isSet: object.member(entry.offset) != 0) }
    if entry.presence == .implicit {
      var value = old ?? S.protoDefault
      try decoder.singular(&value, as: scalar)
      return value
    }
    var value = isSet(entry) ? old : nil
    try decoder.optional(&value, as: scalar)
    return value
  }

  // MARK: Repeated

  private mutating func decodeElements<Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    switch entry.type {
    case .message, .group:
      var values = take(entry, as: [TableMessage].self) ?? []
      if entry.type == .group {
        try decoder.groups(&values)
      } else {
        try decoder.messages(&values)
      }
      put(values.isEmpty ? nil : values, in: entry)
    case .enumeration:
      // Only what is new: the values that are there need no enum.
      var new: [TableEnum.Value] = []
      if decoder.fieldEnum?.isNullValue == true {
        try decoder.repeated(&new, as: TableNullValue.self)
      } else {
        try decoder.repeated(&new, as: TableEnum.self)
      }
      var values = take(entry, as: [Int32].self) ?? []
      values += new.map(\.number)
      put(values.isEmpty ? nil : values, in: entry)
    default: try decodeElements(entry, as: entry.type.scalar(checksUTF8: entry.checksUTF8), from: &decoder)
    }
  }

  private mutating func decodeElements<S: ScalarType, Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    as scalar: S.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    var values = take(entry, as: [S.Value].self) ?? []
    try decoder.repeated(&values, as: scalar)
    put(values.isEmpty ? nil : values, in: entry)
  }

  // MARK: Maps

  private mutating func decodeMap<Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    let key = entry.keyType.mapKey(checksUTF8: entry.checksUTF8)
    if entry.type.isMessage {
      try decodeMessages(entry, key: key, from: &decoder)
    } else if entry.type != .enumeration {
      let value = entry.type.scalar(checksUTF8: entry.checksUTF8)
      try decodeScalars(entry, key: key, value: value, from: &decoder)
    } else if decoder.fieldEnum?.isNullValue == true {
      try decodeEnums(entry, key: key, value: TableNullValue.self, from: &decoder)
    } else {
      try decodeEnums(entry, key: key, value: TableEnum.self, from: &decoder)
    }
  }

  private mutating func decodeMessages<K: MapKeyType, Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    key: K.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    var entries = take(entry, as: [K.Value: TableMessage].self) ?? [:]
    try decoder.messageMap(&entries, key: key)
    put(entries.isEmpty ? nil : entries, in: entry)
  }

  private mutating func decodeScalars<K: MapKeyType, V: ScalarType, Decoder: TableFieldDecoder>(
    _ entry: TableEntry,
    key: K.Type,
    value: V.Type,
    from decoder: inout Decoder
  ) throws(DecodeError) {
    var entries = take(entry, as: [K.Value: V.Value].self) ?? [:]
    try decoder.map(&entries, key: key, value: value)
    put(entries.isEmpty ? nil : entries, in: entry)
  }

  private mutating func decodeEnums<K: MapKeyType, V: ScalarType, Decoder: TableFieldDecoder>(
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
