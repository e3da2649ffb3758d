import SwitchboardText

// Writes each kind of field: a line for a scalar, braces for a message, and the elements of repeated fields one by one.
extension TextFormatEncoder: UnframedVisitor {
  static var isSpecialized: Bool { false }

  mutating func implicit<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    if !S.isInitial(value) { scalar(value, as: type, name: name(of: number)) }
  }

  mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    if let value { scalar(value, as: type, name: name(of: number)) }
  }

  mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard !values.isEmpty else { return }
    let name = name(of: number)
    for value in values { scalar(value, as: type, name: name) }
  }

  private mutating func scalar<S: ScalarType>(_ value: S.Value, as type: S.Type, name: String) {
    guard !writer.isFull else { return }
    writer.name(name)
    writer.literal(": ")
    S.writeText(value, to: &writer)
    writer.endLine()
  }

  // MARK: Messages

  mutating func message(_ value: MessageStorage?, number: Int32) throws(EncodeError) {
    if let value { try message(value, name: name(of: number)) }
  }

  mutating func messages(_ values: [MessageStorage], number: Int32) throws(EncodeError) {
    for value in values { try message(value, name: name(of: number)) }
  }

  private mutating func message(_ value: MessageStorage, name: String) throws(EncodeError) {
    try nested(name) { encoder throws(EncodeError) in try encoder.fields(of: value) }
  }

  // MARK: Maps

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) throws(EncodeError) {
    try forEach(in: entries, key: key, sorted: true) { (key, value) throws(EncodeError) in
      try nested(name(of: number)) { encoder throws(EncodeError) in
        encoder.scalar(key, as: K.self, name: "key")
        encoder.scalar(value, as: V.self, name: "value")
      }
    }
  }

  mutating func messageMap<K: MapKeyType>(
    _ entries: [K.Value: MessageStorage],
    key: K.Type,
    number: Int32
  ) throws(EncodeError) {
    try forEach(in: entries, key: key, sorted: true) { (key, value) throws(EncodeError) in
      try nested(name(of: number)) { encoder throws(EncodeError) in
        encoder.scalar(key, as: K.self, name: "key")
        try encoder.message(value, name: "value")
      }
    }
  }

  // MARK: Extensions

  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError) {
    try fields.forEach(in: range) { entry throws(EncodeError) in
      try named(entry.fullName) { encoder throws(EncodeError) in try entry.traverse(&encoder) }
    }
  }

  /// An extension declared in the message that is its type uses the name of that message.
  mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError) {
    try fields.forEach(in: nil) { entry throws(EncodeError) in
      let holder = entry.fullName.parts(separatedBy: ".").dropLast().joined(separator: ".")
      let message = entry.message?.table.fullName
      try named(message == holder ? holder : entry.fullName) { encoder throws(EncodeError) in
        try entry.traverse(&encoder)
      }
    }
  }
}
