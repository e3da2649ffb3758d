/// Writes messages in JSON.
public struct JSONMessageEncoder {
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

  init(options: JSONEncodingOptions) {
    writer = JSONWriter(options: options)
    names = JSONNames([])
  }

  var options: JSONEncodingOptions { writer.options }

  /// Writes an object with the fields of a message, after the members that `prefix` writes. `prefix` returns whether it
  /// wrote any.
  mutating func object<M: Message>(
    _ message: M,
    prefix: (inout JSONMessageEncoder) -> Bool = { _ in false }
  ) throws(EncodeError) {
    let outer = (names, hint, needsComma, extensionName)
    (names, hint, needsComma, extensionName) = (message.fieldNamesOfValue.json, 0, false, nil)
    depth += 1
    writer.byte(UInt8(ascii: "{"))
    needsComma = prefix(&self)
    try message.traverse(&self)
    writer.byte(UInt8(ascii: "}"))
    depth -= 1
    (names, hint, needsComma, extensionName) = outer
  }

  /// Writes the name of a member, with the comma before it and the colon after it.
  private mutating func name(_ number: Int32) {
    if needsComma { writer.byte(UInt8(ascii: ",")) }
    needsComma = true
    if let extensionName {
      writer.string("[\(extensionName)]")
      writer.byte(UInt8(ascii: ":"))
    } else {
      names.append(number, original: options.preserveProtoFieldNames, hint: &hint, to: &writer.bytes)
    }
  }

  /// Whether to write a repeated field or a map.
  private func shows(isEmpty: Bool) -> Bool {
    !isEmpty || options.alwaysPrintFieldsWithNoPresence && extensionName == nil
  }

  /// Writes an array of messages.
  mutating func array<M: Message>(_ values: [M]) throws(EncodeError) {
    var isFirst = true
    writer.byte(UInt8(ascii: "["))
    try forEachLent(in: values) { message throws(EncodeError) in
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
    try forEach(in: entries, key: key, sorted: options.deterministic) { (key, value) throws(EncodeError) in
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      K.writeJSONKey(key, to: &writer)
      writer.byte(UInt8(ascii: ":"))
      try element(&self, value)
    }
    writer.byte(UInt8(ascii: "}"))
  }
}

extension Message {
  /// Writes this message as a JSON value.
  public func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    try encoder.object(self)
  }
}

extension JSONMessageEncoder: FieldVisitor {
  public mutating func implicit<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard options.alwaysPrintFieldsWithNoPresence || !S.isInitial(value) else { return }
    name(number)
    S.writeJSON(value, to: &writer)
  }

  public mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard let value else { return }
    name(number)
    S.writeJSON(value, to: &writer)
  }

  public mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard shows(isEmpty: values.isEmpty) else { return }
    name(number)
    writer.byte(UInt8(ascii: "["))
    S.writeJSONElements(values, to: &writer)
    writer.byte(UInt8(ascii: "]"))
  }

  public mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    try repeated(values, as: type, number: number)
  }

  public mutating func message<M: Message>(_ value: M?, number: Int32) throws(EncodeError) {
    guard let value else { return }
    name(number)
    try value.encode(to: &self)
  }

  public mutating func messages<M: Message>(_ values: [M], number: Int32) throws(EncodeError) {
    guard shows(isEmpty: values.isEmpty) else { return }
    name(number)
    try array(values)
  }

  public mutating func group<M: Message>(_ value: M?, number: Int32) throws(EncodeError) {
    try message(value, number: number)
  }

  public mutating func groups<M: Message>(_ values: [M], number: Int32) throws(EncodeError) {
    try messages(values, number: number)
  }

  public mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) throws(EncodeError) {
    guard shows(isEmpty: entries.isEmpty) else { return }
    name(number)
    try map(entries, key: key) { encoder, value in V.writeJSON(value, to: &encoder.writer) }
  }

  public mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: [K.Value: M],
    key: K.Type,
    number: Int32
  ) throws(EncodeError) {
    guard shows(isEmpty: entries.isEmpty) else { return }
    name(number)
    try map(entries, key: key) { (encoder, value) throws(EncodeError) in try value.encode(to: &encoder) }
  }

  public mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError) {
    try write(fields, in: range)
  }

  public mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError) {
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
  public mutating func unknown(_ fields: UnknownFields) throws(EncodeError) {}
}
