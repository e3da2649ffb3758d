/// Encodes a message in two passes: the first computes lengths, the second writes the bytes straight to their
/// destination.
public struct BinaryEncoder {
  /// The first pass. It is stored here so that its lengths need not be moved.
  @usableFromInline var counter: SizeCounter
  @usableFromInline var writer: WireWriter

  /// How many of the computed lengths have been used.
  @usableFromInline var nextLength = 0

  @inlinable
  init(deterministic: Bool) {
    counter = SizeCounter(deterministic: deterministic)
    writer = WireWriter(UnsafeMutableRawBufferPointer(start: nil, count: 0))
  }

  @inlinable
  var isDeterministic: Bool { counter.isDeterministic }

  /// Writes the tag and the length of a length-delimited value, and returns the length.
  @usableFromInline
  @discardableResult
  mutating func begin(_ tag: EncodedTag) -> Int {
    // A message that visits different fields in the second pass breaks the contract: fail instead of trapping.
    guard nextLength < counter.lengths.count else {
      writer.overflow()
      return 0
    }
    let length = counter.lengths[nextLength]
    nextLength += 1
    writer.tag(tag, varint: UInt64(length))
    return Int(length)
  }
}

extension Message {
  /// Writes the fields in binary into memory whose size ``measure(with:)`` computed.
  @inlinable
  public func encode(to encoder: inout BinaryEncoder) throws(EncodeError) {
    try traverse(&encoder)
  }
}

extension BinaryEncoder: FieldVisitor {
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
    S.write(value, tag: EncodedTag(number, S.wireType), to: &writer)
  }

  @inlinable
  public mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    forEachLent(in: values) { value in scalar(value, as: type, number: number) }
  }

  @inlinable
  public mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard !values.isEmpty else { return }
    let length = begin(EncodedTag(number, .lengthDelimited))
    S.writePacked(values, length: length, to: &writer)
  }

  @inlinable
  public mutating func message<M: Message>(_ value: M?, number: Int32) throws(EncodeError) {
    try lend(value) { value throws(EncodeError) in
      begin(EncodedTag(number, .lengthDelimited))
      try value.encode(to: &self)
    }
  }

  @inlinable
  public mutating func messages<M: Message>(_ values: [M], number: Int32) throws(EncodeError) {
    try forEachLent(in: values) { message throws(EncodeError) in
      begin(EncodedTag(number, .lengthDelimited))
      try message.encode(to: &self)
    }
  }

  @inlinable
  public mutating func group<M: Message>(_ value: M?, number: Int32) throws(EncodeError) {
    guard let value else { return }
    writer.tag(EncodedTag(number, .startGroup))
    try value.encode(to: &self)
    writer.tag(EncodedTag(number, .endGroup))
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
    // `forEach(in:key:sorted:_:)` is not used here: its closure costs 3% of the whole benchmark message.
    if isDeterministic {
      for (key, value) in entries.sorted(by: { K.areInIncreasingOrder($0.key, $1.key) }) {
        entry(key, K.self, value, V.self, number: number)
      }
    } else {
      for (key, value) in entries { entry(key, K.self, value, V.self, number: number) }
    }
  }

  /// Writes one entry of a map.
  @inlinable @inline(__always)
  mutating func entry<K: MapKeyType, V: ScalarType>(
    _ key: K.Value,
    _ keyType: K.Type,
    _ value: V.Value,
    _ valueType: V.Type,
    number: Int32
  ) {
    let length = 2 + K.size(of: key) + V.size(of: value)
    writer.tag(EncodedTag(number, .lengthDelimited), varint: UInt64(length))
    scalar(key, as: keyType, number: 1)
    scalar(value, as: valueType, number: 2)
  }

  @inlinable
  public mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: [K.Value: M],
    key: K.Type,
    number: Int32
  ) throws(EncodeError) {
    try forEach(in: entries, key: key, sorted: isDeterministic) { (key, value) throws(EncodeError) in
      begin(EncodedTag(number, .lengthDelimited))
      scalar(key, as: K.self, number: 1)
      try message(value, number: 2)
    }
  }

  @inlinable
  public mutating func unknown(_ fields: UnknownFields) throws(EncodeError) {
    if !fields.isEmpty { writer.raw(fields.bytes) }
  }

  public mutating func extensions(
    _ fields: ExtensionFields,
    in range: Range<Int32>
  ) throws(EncodeError) {
    try fields.traverse(&self, in: range)
  }

  public mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError) {
    try fields.forEachMessage { (number, message) throws(EncodeError) in
      writer.tag(EncodedTag(1, .startGroup))
      scalar(UInt32(bitPattern: number), as: ProtoUInt32.self, number: 2)
      begin(EncodedTag(3, .lengthDelimited))
      try message.encode(to: &self)
      writer.tag(EncodedTag(1, .endGroup))
    }
  }
}
