// Based on the traversal, once for all messages: the code that the compiler would synthesize for each message is large,
// and few programs run it.
extension MessageFields {
  public func hash(into hasher: inout Hasher) {
    var fields = FieldHasher(hasher: hasher)
    try? traverse(&fields)  // the hasher never throws
    hasher = fields.hasher
  }

  public var hashValue: Int {
    var hasher = Hasher()
    hash(into: &hasher)
    return hasher.finalize()
  }
}

/// Hashes the fields that it visits. Fields with presence are hashed with their numbers, because one that is not set
/// contributes nothing.
private struct FieldHasher: FieldVisitor {
  var hasher: Hasher

  mutating func implicit<S: ScalarType>(_ value: S.Value, as type: S.Type, number: Int32) {
    hasher.combine(value)
  }

  mutating func explicit<S: ScalarType>(_ value: S.Value?, as type: S.Type, number: Int32) {
    if let value { hash(value, number) }
  }

  mutating func repeated<S: ScalarType>(_ values: [S.Value], as type: S.Type, number: Int32) {
    hasher.combine(values)
  }

  mutating func packed<S: ScalarType>(_ values: [S.Value], as type: S.Type, number: Int32) {
    hasher.combine(values)
  }

  mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) {
    hasher.combine(entries)
  }

  mutating func messageMap<K: MapKeyType, M: Message>(_ entries: [K.Value: M], key: K.Type, number: Int32) {
    hasher.combine(entries)
  }

  mutating func message<M: Message>(_ value: M?, number: Int32) {
    if let value { hash(value, number) }
  }

  mutating func messages<M: Message>(_ values: [M], number: Int32) { hasher.combine(values) }

  mutating func group<M: Message>(_ value: M?, number: Int32) { message(value, number: number) }

  mutating func groups<M: Message>(_ values: [M], number: Int32) { hasher.combine(values) }

  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError) {
    try fields.forEach(in: range) { entry throws(EncodeError) in entry.hash(into: &hasher) }
  }

  mutating func messageSet(_ fields: ExtensionFields) { hasher.combine(fields) }

  mutating func unknown(_ fields: UnknownFields) { hasher.combine(fields) }

  private mutating func hash(_ value: some Hashable, _ number: Int32) {
    hasher.combine(number)
    hasher.combine(value)
  }
}
