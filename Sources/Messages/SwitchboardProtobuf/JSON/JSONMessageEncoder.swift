/// Writes messages in JSON.
struct JSONMessageEncoder {
  var writer: JSONWriter

  /// The names of the fields of the current message, with a hint where to find the next one.
  private var names: JSONNames
  private var hint = 0
  /// Whether a comma must precede the next member or element.
  private var needsComma = false
  /// The extension being written, which uses its own name.
  private var extensionName: String?

  /// The number of open objects.
  var depth = 0

  init(options: JSONEncodingOptions, limit: Int = .max) {
    writer = JSONWriter(options: options, limit: limit)
    names = .none
  }

  var options: JSONEncodingOptions { writer.options }

  /// Writes an object with the fields of a message, after the members that `prefix` writes. `prefix` returns whether it
  /// wrote any.
  mutating func object(
    _ message: MessageStorage,
    prefix: (inout JSONMessageEncoder) -> Bool = { _ in false }
  ) throws(EncodeError) {
    try checkLength()
    let outer = (names, hint, needsComma, extensionName)
    (names, hint, needsComma, extensionName) = (message.table.names.json, 0, false, nil)
    depth += 1
    writer.byte(UInt8(ascii: "{"))
    needsComma = prefix(&self)
    try message.traverse(&self)
    writer.byte(UInt8(ascii: "}"))
    depth -= 1
    (names, hint, needsComma, extensionName) = outer
  }

  /// Throws if nothing more has room.
  private func checkLength() throws(EncodeError) {
    if writer.isCut { throw EncodeError(.tooLarge) }
  }

  /// Writes the name of a member, with the comma before it and the colon after it.
  private mutating func name(_ number: Int32) {
    if needsComma { writer.byte(UInt8(ascii: ",")) }
    needsComma = true
    if let extensionName {
      writer.string("[\(extensionName)]")
      writer.byte(UInt8(ascii: ":"))
    } else {
      names.append(number, original: writer.options.preserveProtoFieldNames, hint: &hint, to: &writer)
    }
  }

  /// Whether to write a repeated field or a map.
  private func shows(isEmpty: Bool) -> Bool {
    !isEmpty || writer.options.alwaysPrintFieldsWithNoPresence && extensionName == nil
  }

  /// Writes an array of messages.
  mutating func array(_ values: [MessageStorage]) throws(EncodeError) {
    var isFirst = true
    writer.byte(UInt8(ascii: "["))
    for message in values {
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      try message.encode(to: &self)
    }
    writer.byte(UInt8(ascii: "]"))
  }

  /// Writes an object with the entries of a map.
  mutating func map<K: MapKeyType, Value>(
    _ entries: [K.Value: Value],
    key: K.Type,
    _ element: (inout JSONMessageEncoder, Value) throws(EncodeError) -> Void
  ) throws(EncodeError) {
    var isFirst = true
    writer.byte(UInt8(ascii: "{"))
    try forEach(in: entries, key: key, sorted: writer.options.deterministic) {
      (key, value) throws(EncodeError) in
      try checkLength()
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      K.writeJSONKey(key, to: &writer)
      writer.byte(UInt8(ascii: ":"))
      try element(&self, value)
    }
    writer.byte(UInt8(ascii: "}"))
  }
}

extension JSONMessageEncoder: UnframedVisitor {
  static var isSpecialized: Bool { true }

  mutating func implicit<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard writer.options.alwaysPrintFieldsWithNoPresence || !S.isInitial(value) else { return }
    name(number)
    S.writeJSON(value, to: &writer)
  }

  mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard let value else { return }
    name(number)
    S.writeJSON(value, to: &writer)
  }

  mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard shows(isEmpty: values.isEmpty) else { return }
    name(number)
    writer.byte(UInt8(ascii: "["))
    if writer.isLimited {
      // The names of an enum's values are much longer than its values: a few at a time.
      for start in stride(from: 0, to: values.count, by: 64) {
        try checkLength()
        if start > 0 { writer.byte(UInt8(ascii: ",")) }
        S.writeJSONElements(Array(values[start..<min(start + 64, values.count)]), to: &writer)
      }
    } else {
      S.writeJSONElements(values, to: &writer)
    }
    writer.byte(UInt8(ascii: "]"))
  }

  mutating func message(_ value: MessageStorage?, number: Int32) throws(EncodeError) {
    guard let value else { return }
    name(number)
    try value.encode(to: &self)
  }

  mutating func messages(_ values: [MessageStorage], number: Int32) throws(EncodeError) {
    guard shows(isEmpty: values.isEmpty) else { return }
    name(number)
    try array(values)
  }

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) throws(EncodeError) {
    guard shows(isEmpty: entries.isEmpty) else { return }
    name(number)
    try map(entries, key: key) { encoder, value in V.writeJSON(value, to: &encoder.writer) }
  }

  mutating func messageMap<K: MapKeyType>(
    _ entries: [K.Value: MessageStorage],
    key: K.Type,
    number: Int32
  ) throws(EncodeError) {
    guard shows(isEmpty: entries.isEmpty) else { return }
    name(number)
    try map(entries, key: key) { (encoder, value) throws(EncodeError) in try value.encode(to: &encoder) }
  }

  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError) {
    try write(fields, in: range)
  }

  mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError) {
    try write(fields, in: nil)
  }

  private mutating func write(_ fields: ExtensionFields, in range: Range<Int32>?) throws(EncodeError) {
    if fields.isEmpty { return }
    defer { extensionName = nil }
    try fields.forEach(in: range) { entry throws(EncodeError) in
      extensionName = entry.fullName
      try entry.traverse(&self)
    }
  }

  /// Writes nothing: JSON cannot represent fields without a name.
  mutating func unknown(_ fields: UnknownFields) throws(EncodeError) {}
}

/// Calls `body` with each entry of a map, in the order of the keys if `sorted`.
func forEach<K: MapKeyType, Value>(
  in entries: [K.Value: Value],
  key: K.Type,
  sorted: Bool,
  _ body: (K.Value, Value) throws(EncodeError) -> Void
) throws(EncodeError) {
  if sorted {
    for (key, value) in entries.sorted(by: { K.areInIncreasingOrder($0.key, $1.key) }) {
      try body(key, value)
    }
  } else {
    for (key, value) in entries { try body(key, value) }
  }
}
