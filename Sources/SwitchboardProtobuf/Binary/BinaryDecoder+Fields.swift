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
    if let value = try S.read(from: &reader) { return value }
    displace(from: fieldStart)
    return nil
  }

  @inlinable
  public mutating func repeated<S: ScalarType>(
    _ values: inout [S.Value],
    as type: S.Type
  ) throws(DecodeError) {
    if S.isPackable, tag.has(.lengthDelimited) {
      try packed(&values, as: type)
    } else {
      if values.isEmpty, S.wireType == .lengthDelimited, tag.has(.lengthDelimited) {
        values.reserveCapacity(elementsAhead())
      }
      if let value = try scalar(type) { values.append(value) }
    }
  }

  @inlinable
  mutating func packed<S: ScalarType>(
    _ values: inout [S.Value],
    as type: S.Type
  ) throws(DecodeError) {
    let length = try reader.length()
    isTaken = true
    if let new = try S.readPacked(length, from: &reader) {
      if values.isEmpty { values = new } else { values += new }
      return
    }
    let outerEnd = reader.end
    reader.end = reader.cursor + length
    while !reader.isAtEnd {
      let start = reader.cursor
      if let value = try S.read(from: &reader) {
        values.append(value)
      } else {
        displacePacked(from: start)
      }
    }
    reader.end = outerEnd
  }

  /// How many length-delimited fields with this tag stand in a row from here, up to a limit: the elements of a repeated field,
  /// which get their room at once instead of by growing.
  @usableFromInline
  func elementsAhead() -> Int {
    var ahead = reader
    var count = 0
    repeat {
      count += 1
      guard let length = try? ahead.length(), (try? ahead.skip(length)) != nil else { break }
    } while count < 64 && (try? ahead.tag()) == tag
    return count
  }

  /// Puts one value of a packed field aside as a field of its own.
  @usableFromInline
  mutating func displacePacked(from start: UnsafeRawPointer) {
    var field = [UInt8](repeating: 0, count: WireWriter.size(ofTag: tag.number))
    field.withUnsafeMutableBytes { bytes in
      var writer = WireWriter(bytes)
      writer.tag(EncodedTag(tag.number, .varint))
    }
    displaced += field
    displace(from: start)
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
    if values.isEmpty { values.reserveCapacity(elementsAhead()) }
    let outer = try enterMessage()
    values.append(M())
    try values[values.count - 1].merge(from: &self)
    leave(to: outer)
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
  public mutating func oneofMessage<M: Message>(
    merging current: M,
    isSet: Bool
  ) throws(DecodeError) -> M? {
    var value = Optional(current)
    try message(&value)
    return isTaken ? value : nil
  }

  @inlinable
  public mutating func oneofGroup<M: Message>(
    merging current: M,
    isSet: Bool
  ) throws(DecodeError) -> M? {
    var value = Optional(current)
    try group(&value)
    return isTaken ? value : nil
  }

  // MARK: Maps

  @inlinable
  public mutating func map<K: MapKeyType, V: ScalarType>(
    _ entries: inout [K.Value: V.Value],
    key: K.Type,
    value: V.Type
  ) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    let start = fieldStart
    let outer = try enterMessage()
    var newKey = K.protoDefault
    var newValue: V.Value? = V.protoDefault
    while try nextField() {
      if tag.number == 1, let key = try scalar(K.self) { newKey = key }
      if tag.number == 2, tag.has(V.wireType) { newValue = try scalar(V.self) }
      if !isTaken, displaced.isEmpty { try skipValue() }
    }
    leave(to: outer)
    if let newValue {
      if entries.isEmpty { entries = Dictionary(minimumCapacity: 6) }
      entries[newKey] = newValue
    } else {
      // The value is a number that a closed enum does not have: the whole entry is kept aside.
      displaced = []
      displace(from: start)
    }
  }

  @inlinable
  public mutating func messageMap<K: MapKeyType, M: Message>(
    _ entries: inout [K.Value: M],
    key: K.Type
  ) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    let outer = try enterMessage()
    var newKey = K.protoDefault
    var newValue: M?
    while try nextField() {
      if tag.number == 1, let key = try scalar(K.self) { newKey = key }
      if tag.number == 2 { try message(&newValue) }
      if !isTaken { try skipValue() }
    }
    leave(to: outer)
    if entries.isEmpty { entries = Dictionary(minimumCapacity: 6) }
    entries[newKey] = newValue ?? M()
  }
}
