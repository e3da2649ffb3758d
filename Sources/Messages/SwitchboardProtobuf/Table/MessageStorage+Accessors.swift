// The functions that the accessors of generated messages call. Offsets, bits and member numbers must be those of the
// table's layout, and values must have the table's types. Each function reads or writes one slot of the object.
//
// They are compiled where they are used. `withExtendedLifetime` keeps the object alive for the access by address.
extension MessageStorage {
  @inlinable @inline(__always)
  func read<Value>(_ offset: Int, as type: Value.Type) -> Value {
    withExtendedLifetime(object) { object.slot(offset, as: type).pointee }
  }

  @inlinable @inline(__always)
  mutating func write<Value>(_ value: Value, _ offset: Int) {
    makeUnique()
    object.slot(offset, as: Value.self).pointee = value
  }

  // MARK: Numbers

  /// A number without presence.
  @inlinable
  public subscript<Value: BitwiseCopyable>(offset: Int) -> Value {
    get { read(offset, as: Value.self) }
    set { write(newValue, offset) }
  }

  /// A number with presence.
  @inlinable
  public subscript<Value: BitwiseCopyable>(offset: Int, bit bit: Int) -> Value {
    get { read(offset, as: Value.self) }
    set {
      write(newValue, offset)
      object.set(bit)
    }
  }

  /// A number with presence and a default.
  @inlinable
  public subscript<Value: BitwiseCopyable>(offset: Int, bit bit: Int, default initial: Value) -> Value {
    has(bit: bit) ? read(offset, as: Value.self) : initial
  }

  /// Whether a number or an enum is set.
  @inlinable
  public func has(bit: Int) -> Bool { withExtendedLifetime(object) { object.bit(bit) } }

  // MARK: Enums

  /// An enum without presence.
  @inlinable
  public subscript<E: Enum>(enum offset: Int) -> E {
    get { E(rawValue: Int(read(offset, as: Int32.self))) ?? E() }
    set { write(Int32(truncatingIfNeeded: newValue.rawValue), offset) }
  }

  /// An enum with presence.
  @inlinable
  public subscript<E: Enum>(enum offset: Int, bit bit: Int) -> E {
    get { self[enum: offset, bit: bit, default: E()] }
    set {
      self[enum: offset] = newValue
      object.set(bit)
    }
  }

  /// An enum with presence and a default.
  @inlinable
  public subscript<E: Enum>(enum offset: Int, bit bit: Int, default initial: E) -> E {
    has(bit: bit) ? self[enum: offset] : initial
  }

  // MARK: Strings and bytes

  /// A string.
  @inlinable
  public subscript(string offset: Int) -> String {
    get { read(offset, as: String?.self) ?? "" }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: String?.self).pointee[or: ""]
    }
  }

  /// A string with a default.
  @inlinable
  public subscript(string offset: Int, default initial: String) -> String {
    get { read(offset, as: String?.self) ?? initial }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: String?.self).pointee[or: initial]
    }
  }

  /// Bytes.
  @inlinable
  public subscript(bytes offset: Int) -> [UInt8] {
    get { read(offset, as: [UInt8]?.self) ?? [] }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: [UInt8]?.self).pointee[or: []]
    }
  }

  /// Bytes with a default.
  @inlinable
  public subscript(bytes offset: Int, default initial: [UInt8]) -> [UInt8] {
    get { read(offset, as: [UInt8]?.self) ?? initial }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: [UInt8]?.self).pointee[or: initial]
    }
  }

  /// Whether a string is set.
  @inlinable
  public func has(string offset: Int) -> Bool { read(offset, as: String?.self) != nil }

  /// Whether bytes or a message are set.
  @inlinable
  public func has(reference offset: Int) -> Bool { read(offset, as: UInt.self) != 0 }

  // MARK: Messages, arrays and dictionaries

  /// A message.
  @inlinable
  public subscript<M: Message>(message offset: Int) -> M {
    get { read(offset, as: M?.self) ?? M() }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: M?.self).pointee[or: M()]
    }
  }

  /// A repeated field.
  @inlinable
  public subscript<Element>(array offset: Int) -> [Element] {
    get { read(offset, as: [Element]?.self) ?? [] }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: [Element]?.self).pointee[or: []]
    }
  }

  /// A map.
  @inlinable
  public subscript<Key: Hashable, Value>(map offset: Int) -> [Key: Value] {
    get { read(offset, as: [Key: Value]?.self) ?? [:] }
    _modify {
      makeUnique()
      yield &object.slot(offset, as: [Key: Value]?.self).pointee[or: [:]]
    }
  }

  // MARK: Members of oneofs

  /// The number of the member of a oneof that is set, or 0.
  @inlinable
  public func member(_ oneof: Int) -> Int32 { withExtendedLifetime(object) { object.member(oneof) } }

  /// Selects a member of a oneof.
  @inlinable
  mutating func select(_ number: Int32, in oneof: Int) {
    makeUnique()
    if object.member(oneof) != number { object.select(number, in: oneof) }
  }

  /// Clears a oneof.
  public mutating func clear(oneof: Int) {
    makeUnique()
    object.select(0, in: oneof)
  }

  /// A number in a oneof.
  @inlinable
  public subscript<Value: BitwiseCopyable & ExpressibleByIntegerLiteral>(
    oneof: Int,
    member number: Int32
  ) -> Value {
    get { self[oneof, member: number, default: 0] }
    set {
      select(number, in: oneof)
      write(newValue, oneof)
    }
  }

  /// A Boolean in a oneof.
  @inlinable
  public subscript(oneof: Int, member number: Int32) -> Bool {
    get { self[oneof, member: number, default: false] }
    set {
      select(number, in: oneof)
      write(newValue, oneof)
    }
  }

  /// A number or a Boolean in a oneof, with a default.
  @inlinable
  public subscript<Value: BitwiseCopyable>(
    oneof: Int,
    member number: Int32,
    default initial: Value
  ) -> Value {
    get { member(oneof) == number ? read(oneof, as: Value.self) : initial }
  }

  /// An enum in a oneof.
  @inlinable
  public subscript<E: Enum>(enum oneof: Int, member number: Int32) -> E {
    get { self[enum: oneof, member: number, default: E()] }
    set {
      select(number, in: oneof)
      self[enum: oneof] = newValue
    }
  }

  /// An enum in a oneof, with a default.
  @inlinable
  public subscript<E: Enum>(enum oneof: Int, member number: Int32, default initial: E) -> E {
    member(oneof) == number ? self[enum: oneof] : initial
  }

  /// A string in a oneof.
  @inlinable
  public subscript(string oneof: Int, member number: Int32) -> String {
    get { self[string: oneof, member: number, default: ""] }
    _modify { yield &self[string: oneof, member: number, default: ""] }
  }

  /// A string in a oneof, with a default.
  @inlinable
  public subscript(string oneof: Int, member number: Int32, default initial: String) -> String {
    get { member(oneof) == number ? self[string: oneof, default: initial] : initial }
    _modify {
      select(number, in: oneof)
      yield &self[string: oneof, default: initial]
    }
  }

  /// Bytes in a oneof.
  @inlinable
  public subscript(bytes oneof: Int, member number: Int32) -> [UInt8] {
    get { self[bytes: oneof, member: number, default: []] }
    _modify { yield &self[bytes: oneof, member: number, default: []] }
  }

  /// Bytes in a oneof, with a default.
  @inlinable
  public subscript(bytes oneof: Int, member number: Int32, default initial: [UInt8]) -> [UInt8] {
    get { member(oneof) == number ? self[bytes: oneof, default: initial] : initial }
    _modify {
      select(number, in: oneof)
      yield &self[bytes: oneof, default: initial]
    }
  }

  /// A message in a oneof.
  @inlinable
  public subscript<M: Message>(message oneof: Int, member number: Int32) -> M {
    get { member(oneof) == number ? self[message: oneof] : M() }
    _modify {
      select(number, in: oneof)
      yield &self[message: oneof]
    }
  }

  // MARK: Clearing

  /// Makes a field unset.
  public mutating func clear(_ number: Int32) {
    let table = table
    if let index = table.index(of: number) { clear(table.entries[index]) }
  }
}
