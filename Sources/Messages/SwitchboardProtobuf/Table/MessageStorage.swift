/// The storage of a message: one reference to its object, which is copied before a change if anything else refers to it.
///
/// A generated message is a struct with this as its only property. All formats work on the storage, whose table
/// describes the fields. Arrays and dictionaries of generated messages are read as those of storages, which have the
/// same memory.
public struct MessageStorage: Sendable {
  @usableFromInline var object: MessageObject

  /// A message in which nothing is set.
  public init(_ table: TableData) { object = MessageObject.make(table) }

  init(object: MessageObject) { self.object = object }

  @inline(__always)
  var table: TableData { object.table }

  /// Makes the object uniquely referenced, so that it may be written.
  @inlinable @inline(__always)
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&object) { object = object.copy() }
  }

  /// Calls `body` with the slots, which it may change.
  @inline(__always)
  mutating func change<Failure: Error>(_ body: (ObjectSlots) throws(Failure) -> Void) throws(Failure) {
    makeUnique()
    try withExtendedLifetime(object) { object throws(Failure) in try body(object.slots) }
  }

  /// Calls `body` with the slots, to read them.
  @inline(__always)
  func read<Result, Failure: Error>(_ body: (ObjectSlots) throws(Failure) -> Result) throws(Failure) -> Result
  {
    try withExtendedLifetime(object) { object throws(Failure) in try body(object.slots) }
  }

  /// Whether there are unknown fields.
  var hasUnknownFields: Bool { object.slot(MessageObject.Offsets.unknown, as: UInt.self).pointee != 0 }

  /// The unknown fields.
  var unknownFields: UnknownFields {
    get {
      var fields = UnknownFields()
      fields.bytes = object.slot(MessageObject.Offsets.unknown, as: [UInt8]?.self).pointee ?? []
      return fields
    }
    set {
      makeUnique()
      object.slot(MessageObject.Offsets.unknown, as: [UInt8]?.self).pointee =
        newValue.isEmpty ? nil : newValue.bytes
    }
    _modify {
      makeUnique()
      let slot = object.slot(MessageObject.Offsets.unknown, as: [UInt8]?.self)
      var fields = UnknownFields()
      swap(&fields.bytes, &slot.pointee[or: []])
      slot.pointee = nil  // so that what is appended is appended in place
      defer { slot.pointee = fields.isEmpty ? nil : fields.bytes }
      yield &fields
    }
  }
}

// MARK: Slots

extension MessageStorage {
  /// Whether a field is set: for one without presence, whether it has not its default value.
  func isSet(_ entry: TableEntry) -> Bool {
    switch entry.shape {
    case .oneof: return object.member(entry.offset) == entry.number
    case .repeated, .map: return object.slot(entry.offset, as: UInt.self).pointee != 0
    case .singular: break
    }
    switch entry.presence {
    case .bit: return object.bit(Int(entry.bit))
    case .optional: return !isNil(entry)
    case .implicit: return !isDefault(entry)
    }
  }

  private func isNil(_ entry: TableEntry) -> Bool {
    // The second word of a string that is nil is zero, as are all bits of other optionals.
    object.slot(entry.type == .string ? entry.offset + 8 : entry.offset, as: UInt.self).pointee == 0
  }

  private func isDefault(_ entry: TableEntry) -> Bool {
    switch entry.type {
    case .string: (object.slot(entry.offset, as: String?.self).pointee ?? "").isEmpty
    case .bytes: (object.slot(entry.offset, as: [UInt8]?.self).pointee ?? []).isEmpty
    case .message, .group: isNil(entry)
    case .bool: object.slot(entry.offset, as: UInt8.self).pointee == 0
    case let type where type.width == 4: object.slot(entry.offset, as: UInt32.self).pointee == 0
    default: object.slot(entry.offset, as: UInt64.self).pointee == 0
    }
  }

  /// The value of a singular scalar field that is not an enum. `Value` must be the type of the field's values. A field
  /// that is not set has zero bits, unless its slot holds nil.
  func scalar<Value>(_ entry: TableEntry, as type: Value.Type) -> Value? {
    if entry.shape == .oneof, !isSet(entry) { return nil }
    if !entry.type.isPackable { return object.slot(entry.offset, as: Value?.self).pointee }
    return object.slot(entry.offset, as: type).pointee
  }

  /// Sets the value of a singular scalar field, or of a field with a message if `Value` is a message.
  mutating func set<Value>(_ entry: TableEntry, to value: Value) {
    makeUnique()
    if entry.shape == .oneof, !isSet(entry) { object.select(entry.number, in: entry.offset) }
    if entry.presence == .bit { object.set(Int(entry.bit)) }
    if entry.type.isPackable {
      object.slot(entry.offset, as: Value.self).pointee = value
    } else {
      object.slot(entry.offset, as: Value?.self).pointee = value
    }
  }

  /// Makes a field unset.
  mutating func clear(_ entry: TableEntry) {
    guard isSet(entry) || entry.shape != .oneof else { return }
    makeUnique()
    switch entry.shape {
    case .oneof: object.select(0, in: entry.offset)
    case .repeated, .map: object.slot(entry.offset, as: AnyObject?.self).pointee = nil
    case .singular:
      if entry.presence == .bit { object.clear(Int(entry.bit)) }
      switch entry.type {
      case .string: object.slot(entry.offset, as: String?.self).pointee = nil
      case .bytes, .message, .group: object.slot(entry.offset, as: AnyObject?.self).pointee = nil
      case .bool: object.slot(entry.offset, as: UInt8.self).pointee = 0
      case let type where type.width == 4: object.slot(entry.offset, as: UInt32.self).pointee = 0
      default: object.slot(entry.offset, as: UInt64.self).pointee = 0
      }
    }
  }

  /// The message of a singular field.
  func message(_ entry: TableEntry) -> MessageStorage? {
    guard entry.shape != .oneof || isSet(entry) else { return nil }
    return object.slot(entry.offset, as: MessageStorage?.self).pointee
  }

  /// The array or dictionary of a repeated field or a map. `Collection` must be the table's type.
  func many<Collection>(_ entry: TableEntry, as type: Collection.Type) -> Collection? {
    object.slot(entry.offset, as: Collection?.self).pointee
  }

  /// Takes the message, array or dictionary out of its slot, for a change in place. The caller puts it back; if it
  /// fails before, the field is unset.
  mutating func take<Value>(_ entry: TableEntry, as type: Value.Type) -> Value? {
    makeUnique()
    if entry.shape == .oneof, !isSet(entry) { return nil }
    let slot = object.slot(entry.offset, as: Value?.self)
    let value = slot.move()
    slot.initialize(to: nil)
    // The member must be deselected, because a selected member must have a value.
    if entry.shape == .oneof { object.slot(entry.offset + 16, as: Int32.self).pointee = 0 }
    return value
  }

  /// Puts an array, a dictionary or a message into a slot after ``take(_:as:)``.
  mutating func put<Value>(_ value: Value?, in entry: TableEntry) {
    if entry.shape == .oneof {
      guard value != nil else { return }
      if !isSet(entry) { object.select(entry.number, in: entry.offset) }
    }
    object.slot(entry.offset, as: Value?.self).pointee = value
  }

  /// The extensions of a generated message.
  var extensionFields: ExtensionFields {
    get {
      let offset = table.extensionsOffset
      return offset == 0
        ? ExtensionFields() : object.slot(offset, as: ExtensionFields?.self).pointee ?? ExtensionFields()
    }
    _modify {
      makeUnique()
      let offset = table.extensionsOffset
      guard offset != 0 else {
        var none = ExtensionFields()
        yield &none
        return
      }
      yield &object.slot(offset, as: ExtensionFields?.self).pointee[or: ExtensionFields()]
    }
  }

  /// The value of an enum field.
  func enumeration(_ entry: TableEntry, _ type: EnumTable?) -> TableEnum.Value? {
    scalar(entry, as: Int32.self).map { TableEnum.Value(number: $0, type: type) }
  }
}
