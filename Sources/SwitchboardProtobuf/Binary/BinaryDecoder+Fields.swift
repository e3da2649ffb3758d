// How each kind of field takes its value. A value whose wire type does not fit is not taken, and so
// ends in the unknown fields.
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

  /// The value of the field that was entered, where its wire type fits.
  @inlinable
  mutating func scalar<S: ScalarType>(_ type: S.Type) throws(DecodeError) -> S.Value? {
    guard tag.has(S.wireType) else { return nil }
    isTaken = true
    let start = reader.cursor
    if let value = try S.read(from: &reader) { return value }
    displaceNumber(at: start, bits: { UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: $0))) })
    return nil
  }

  // What is repeated is read in one go for as long as its tag comes again, which it does in what any encoder writes.
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

  /// Puts a number that a closed enum does not have aside, as a field of its own. It was read from `start`; `bits` says what is kept
  /// of one that is wider than an enum, in which libprotobuf's ways for packed and single values differ.
  @usableFromInline
  mutating func displaceNumber(at start: UnsafeRawPointer, bits: (UInt64) -> UInt64) {
    var read = WireReader(UnsafeRawBufferPointer(start: start, count: reader.cursor - start))
    guard let number = try? read.varint() else { return }  // it has just been read
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
      // What nearly every entry is: a key, then a value, and no more.
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
      // The value is a number that a closed enum does not have: the whole entry is kept aside.
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
