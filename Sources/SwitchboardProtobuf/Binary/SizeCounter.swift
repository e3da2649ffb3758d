/// The first of the two passes that encode a message: it computes the size of the message and of every length-delimited
/// value.
public struct SizeCounter {
  /// The bytes counted so far.
  @usableFromInline var total = 0

  /// The lengths of nested messages and packed fields, in the order in which they begin. The second pass reads them in
  /// the same order, so that nothing is computed twice.
  @usableFromInline var lengths = Lengths()

  /// Whether map entries will be written in the order of their keys: the lengths of their values must have the same
  /// order.
  @usableFromInline let isDeterministic: Bool

  @usableFromInline
  init(deterministic: Bool) { isDeterministic = deterministic }

  @inlinable
  mutating func tag(_ number: Int32) { total += WireWriter.size(ofTag: number) }

  /// Computes the length of a length-delimited value.
  @inlinable
  mutating func nested(_ body: (inout SizeCounter) throws(EncodeError) -> Void) throws(EncodeError) {
    let place = lengths.append(0)
    let before = total
    try body(&self)
    let length = total - before
    lengths.set(place, to: length)
    total += WireWriter.size(ofVarint: UInt64(length))
  }
}

extension Message {
  /// Computes the size of what ``encode(to:)`` will write.
  @inlinable
  public func measure(with counter: inout SizeCounter) throws(EncodeError) {
    try traverse(&counter)
  }
}

extension SizeCounter: FieldVisitor {
  @inlinable @inline(__always)
  public mutating func implicit<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    if !S.isInitial(value) { scalar(value, as: type, number: number) }
  }

  @inlinable @inline(__always)
  public mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    if let value { scalar(value, as: type, number: number) }
  }

  @inlinable @inline(__always)
  mutating func scalar<S: ScalarType>(_ value: S.Value, as type: S.Type, number: Int32) {
    total += WireWriter.size(ofTag: number) + S.size(of: value)
  }

  @inlinable
  public mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    var size = values.count * WireWriter.size(ofTag: number)
    forEachLent(in: values) { value in size += S.size(of: value) }
    total += size
  }

  @inlinable
  public mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard !values.isEmpty else { return }
    var length = 0
    forEachLent(in: values) { value in length += S.size(of: value) }
    lengths.append(length)
    total += WireWriter.size(ofTag: number) + WireWriter.size(ofVarint: UInt64(length)) + length
  }

  @inlinable
  public mutating func message<M: Message>(_ value: M?, number: Int32) throws(EncodeError) {
    try lend(value) { value throws(EncodeError) in
      tag(number)
      try nested { counter throws(EncodeError) in try value.measure(with: &counter) }
    }
  }

  @inlinable
  public mutating func messages<M: Message>(_ values: [M], number: Int32) throws(EncodeError) {
    try forEachLent(in: values) { message throws(EncodeError) in
      tag(number)
      try nested { counter throws(EncodeError) in try message.measure(with: &counter) }
    }
  }

  @inlinable
  public mutating func group<M: Message>(_ value: M?, number: Int32) throws(EncodeError) {
    guard let value else { return }
    total += 2 * WireWriter.size(ofTag: number)
    try value.measure(with: &self)
  }

  @inlinable
  public mutating func groups<M: Message>(_ values: [M], number: Int32) throws(EncodeError) {
    for value in values { try group(value, number: number) }
  }

  @inlinable
  public mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: [K.Value: V.Value],
    key: K.Type,
    value: V.Type,
    number: Int32
  ) throws(EncodeError) {
    // The tags of an entry's key and value take one byte each. The order does not affect the sum.
    for (key, value) in entries {
      let length = 2 + K.size(of: key) + V.size(of: value)
      total += WireWriter.size(ofTag: number) + WireWriter.size(ofVarint: UInt64(length)) + length
    }
  }

  @inlinable
  public mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: [K.Value: M],
    key: K.Type,
    number: Int32
  ) throws(EncodeError) {
    try forEach(in: entries, key: key, sorted: isDeterministic) { (key, value) throws(EncodeError) in
      tag(number)
      try nested { counter throws(EncodeError) in
        counter.total += 1 + K.size(of: key)
        try counter.message(value, number: 2)
      }
    }
  }

  @inlinable
  public mutating func unknown(_ fields: UnknownFields) throws(EncodeError) {
    total += fields.bytes.count
  }

  public mutating func extensions(
    _ fields: ExtensionFields,
    in range: Range<Int32>
  ) throws(EncodeError) {
    try fields.traverse(&self, in: range)
  }

  public mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError) {
    try fields.forEachMessage { (number, message) throws(EncodeError) in
      // start group 1, type id as field 2, message as field 3, end group 1: four tags of one byte
      total += 4 + ProtoUInt32.size(of: UInt32(bitPattern: number))
      try nested { counter throws(EncodeError) in try message.measure(with: &counter) }
    }
  }
}

/// Calls `body` with each entry of a map, in the order of the keys if `sorted`.
@inlinable
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
