/// Collects the values of the fields that are set in a message, by number.
struct FieldCollector: FieldVisitor {
  private(set) var values: [Int32: Any] = [:]
  /// The numbers of the repeated fields and maps.
  private(set) var collections: Set<Int32> = []
  /// The extensions, with the number of one of them.
  private(set) var extensions: (number: Int32, fields: ExtensionFields)?

  mutating func implicit<S: ScalarType>(_ value: S.Value, as type: S.Type, number: Int32) {
    values[number] = value
  }

  mutating func explicit<S: ScalarType>(_ value: S.Value?, as type: S.Type, number: Int32) {
    if let value { values[number] = value }
  }

  mutating func repeated<S: ScalarType>(_ values: [S.Value], as type: S.Type, number: Int32) {
    collect(values, number)
  }

  mutating func packed<S: ScalarType>(_ values: [S.Value], as type: S.Type, number: Int32) {
    collect(values, number)
  }

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) {
    collect(entries, number)
  }

  mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: [K.Value: M],
    key: K.Type,
    number: Int32
  ) {
    collect(entries, number)
  }

  mutating func message<M: Message>(_ value: M?, number: Int32) {
    if let value { values[number] = value }
  }

  mutating func messages<M: Message>(_ values: [M], number: Int32) {
    collect(values, number)
  }

  mutating func group<M: Message>(_ value: M?, number: Int32) { message(value, number: number) }

  mutating func groups<M: Message>(_ values: [M], number: Int32) { messages(values, number: number) }

  private mutating func collect(_ value: some Collection, _ number: Int32) {
    collections.insert(number)
    if !value.isEmpty { values[number] = value }
  }

  // All extensions of a message are in one property, which is visited once per range.
  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) {
    extensions = (range.lowerBound, fields)
  }

  mutating func messageSet(_ fields: ExtensionFields) { extensions = (1, fields) }

  mutating func unknown(_ fields: UnknownFields) {}
}

extension Message {
  /// The values of the fields that are set.
  func collectFields() -> FieldCollector {
    var collector = FieldCollector()
    // The collector never throws.
    try? traverse(&collector)
    return collector
  }
}
