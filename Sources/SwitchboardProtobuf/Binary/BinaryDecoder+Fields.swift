// Reads the value of each kind of field. A value with an unexpected wire type is left for the unknown fields.
extension BinaryDecoder: FieldDecoder {
  @inlinable
  public mutating func singular<S: ScalarType>(
    _ value: inout S.Value,
    as type: S.Type
  ) throws(DecodeError) {
    if let new = try scalar(type) { value = new }
  }

  @inlinable
  public mutating func optional<S: ScalarType>(
    _ value: inout S.Value?,
    as type: S.Type
  ) throws(DecodeError) {
    if let new = try scalar(type) { value = new }
  }

  @inlinable
  public mutating func oneof<S: ScalarType>(
    _ type: S.Type,
    isSet: Bool
  ) throws(DecodeError) -> S.Value? {
    try scalar(type)
  }

  /// Reads the value of the current field, or returns nil if its wire type does not fit.
  @inlinable
  mutating func scalar<S: ScalarType>(_ type: S.Type) throws(DecodeError) -> S.Value? {
    guard tag.has(S.wireType) else { return nil }
    isTaken = true
    let start = reader.cursor
    if let value = try S.read(from: &reader) { return value }
    displaceNumber(at: start, bits: { UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: $0))) })
    return nil
  }

  // Reads all consecutive elements of a repeated field at once: encoders write them one after the other.
  @inlinable
  public mutating func repeated<S: ScalarType>(
    _ values: inout [S.Value],
    as type: S.Type
  ) throws(DecodeError) {
    if S.isPackable, tag.has(.lengthDelimited) { return try packed(&values, as: type) }
    guard tag.has(S.wireType) else { return }
    if S.wireType == .lengthDelimited, values.capacity == 0 { values.reserveCapacity(elementsAhead()) }
    repeat {
      if let value = try scalar(type) { values.append(value) }
    } while isTaken && entersSameField()
  }

  @inlinable
  mutating func packed<S: ScalarType>(
    _ values: inout [S.Value],
    as type: S.Type
  ) throws(DecodeError) {
    let length = try reader.length()
    isTaken = true
    if try S.readPacked(length, into: &values, from: &reader) { return }
    let outerEnd = reader.end
    reader.end = reader.cursor + length
    while !reader.isAtEnd {
      let start = reader.cursor
      if let value = try S.read(from: &reader) {
        values.append(value)
      } else {
        displaceNumber(at: start, bits: { $0 })
      }
    }
    reader.end = outerEnd
  }

  /// Sets aside, as an unknown field, a number that a closed enum does not define. The number was read from `start`.
  /// `bits` decides which bits of a number wider than 32 bits are kept: libprotobuf keeps different ones for packed and
  /// for single values.
  @usableFromInline
  mutating func displaceNumber(at start: UnsafeRawPointer, bits: (UInt64) -> UInt64) {
    var read = WireReader(UnsafeRawBufferPointer(start: start, count: reader.cursor - start))
    guard let number = try? read.varint() else { return }  // cannot fail: it was read before
    displaced += [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      var writer = WireWriter(UnsafeMutableRawBufferPointer(buffer))
      writer.tag(EncodedTag(tag.number, .varint), varint: bits(number))
      count = buffer.count - writer.remaining
    }
    isTaken = false
  }

  // MARK: Messages

  @inlinable
  public mutating func message<M: Message>(_ value: inout M?) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    let outer = try enterMessage()
    try value[or: M()].merge(from: &self)
    leave(to: outer)
  }

  @inlinable
  public mutating func messages<M: Message>(_ values: inout [M]) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    if values.capacity == 0 { values.reserveCapacity(elementsAhead()) }
    repeat {
      let outer = try enterMessage()
      values.append(M())
      try values[values.count - 1].merge(from: &self)
      leave(to: outer)
    } while entersSameField()
  }

  @inlinable
  public mutating func group<M: Message>(_ value: inout M?) throws(DecodeError) {
    guard tag.has(.startGroup) else { return }
    let outer = try enterGroup()
    try value[or: M()].merge(from: &self)
    leave(to: outer)
  }

  @inlinable
  public mutating func groups<M: Message>(_ values: inout [M]) throws(DecodeError) {
    guard tag.has(.startGroup) else { return }
    let outer = try enterGroup()
    values.append(M())
    try values[values.count - 1].merge(from: &self)
    leave(to: outer)
  }

  @inlinable
  public mutating func oneofMessage<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) {
    try message(&value)
  }

  @inlinable
  public mutating func oneofGroup<M: Message>(_ value: inout M?, isSet: Bool) throws(DecodeError) {
    try group(&value)
  }

  // MARK: Maps

  @inlinable
  public mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    if entries.capacity == 0 { entries = Dictionary(minimumCapacity: elementsAhead()) }
    repeat {
      let start = fieldStart
      let outer = try enterMessage()
      var newKey = K.protoDefault
      var newValue: V.Value? = V.protoDefault
      // The fast path: nearly every entry is a key followed by a value.
      if reader.skipsTag(Tag(number: 1, K.wireType)), let key = try K.read(from: &reader) { newKey = key }
      if reader.skipsTag(Tag(number: 2, V.wireType)) { newValue = try V.read(from: &reader) }
      while try nextField() {
        if tag.number == 1, let key = try scalar(K.self) { newKey = key }
        if tag.number == 2, tag.has(V.wireType) {
          newValue = try scalar(V.self)
          if newValue == nil { takeDisplaced() }
        }
        if !isTaken { try skipValue() }
      }
      leave(to: outer)
      // The value is a number that a closed enum does not define: keep the whole entry as an unknown field.
      guard let newValue else { return displace(from: start) }
      entries[newKey] = newValue
    } while entersSameField()
  }

  @inlinable
  public mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: inout [K.Value: M],
    key: K.Type
  ) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    if entries.capacity == 0 { entries = Dictionary(minimumCapacity: elementsAhead()) }
    repeat {
      let outer = try enterMessage()
      var newKey = K.protoDefault
      var newValue: M?
      while try nextField() {
        if tag.number == 1, let key = try scalar(K.self) { newKey = key }
        if tag.number == 2 { try message(&newValue) }
        if !isTaken { try skipValue() }
      }
      leave(to: outer)
      entries[newKey] = newValue ?? M()
    } while entersSameField()
  }
}
