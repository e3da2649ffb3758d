/// The memory of a ``MessageObject``, for code that goes through many slots.
///
/// It does not retain the object: its user must hold the object, and must hold the only reference to change it. The
/// same then holds for objects of nested messages that ``message(_:of:)`` has returned.
struct ObjectSlots {
  let base: UnsafeMutableRawPointer

  /// The table. The object retains the set that keeps it alive.
  @inline(__always)
  var table: TableData { base.load(fromByteOffset: MessageObject.Offsets.table, as: TableData.self) }

  /// A slot as a value of `type`, which must be the table's type for the offset.
  @inline(__always)
  func slot<Value>(_ offset: Int, as type: Value.Type) -> UnsafeMutablePointer<Value> {
    (base + offset).assumingMemoryBound(to: type)
  }

  @inline(__always)
  func slot<Value>(_ entry: TableEntry, as type: Value.Type) -> UnsafeMutablePointer<Value> {
    slot(entry.offset, as: type)
  }

  /// Whether a slot with a reference holds one.
  @inline(__always)
  func hasReference(_ offset: Int) -> Bool { slot(offset, as: UInt.self).pointee != 0 }

  /// The object, as a counted reference.
  var storage: MessageStorage {
    MessageStorage(object: Unmanaged<MessageObject>.fromOpaque(base).takeUnretainedValue())
  }

  /// The unknown fields.
  @inline(__always)
  var unknown: UnsafeMutablePointer<[UInt8]?> { slot(MessageObject.Offsets.unknown, as: [UInt8]?.self) }

  /// The extensions of a message whose table has a slot for them.
  @inline(__always)
  var extensions: UnsafeMutablePointer<ExtensionFields?> {
    slot(table.extensionsOffset, as: ExtensionFields?.self)
  }

  // MARK: Presence

  @inline(__always)
  func bit(_ bit: UInt16) -> Bool { word(bit).pointee & 1 &<< UInt32(bit) != 0 }

  @inline(__always)
  func set(_ bit: UInt16) { word(bit).pointee |= 1 &<< UInt32(bit) }

  @inline(__always)
  private func word(_ bit: UInt16) -> UnsafeMutablePointer<UInt32> {
    slot(MessageObject.Offsets.bits + Int(bit / 32 * 4), as: UInt32.self)
  }

  /// The number of the member of a oneof that is set, or 0.
  @inline(__always)
  func member(_ oneof: Int) -> Int32 { slot(oneof + 16, as: Int32.self).pointee }

  /// Selects a member of a oneof.
  @inline(__always)
  func select(_ entry: TableEntry) {
    if member(entry.offset) != entry.number { select(entry.number, in: entry.offset) }
  }

  /// Destroys the value of a oneof, if there is one, and selects the member `number`, whose value is zeroed.
  @inline(never)
  func select(_ number: Int32, in oneof: Int) {
    destroyMember(of: oneof)
    slot(oneof, as: (UInt64, UInt64).self).initialize(to: (0, 0))
    slot(oneof + 16, as: Int32.self).pointee = number
  }

  // MARK: Reading what is there

  /// The message in a slot that is not nil.
  @inline(__always)
  func nested(_ offset: Int) -> ObjectSlots { slot(offset, as: ObjectSlots.self).pointee }

  /// The elements of an array in a slot that is not nil. `Element` may be any type with the same memory.
  @inline(__always)
  func elements<Element>(_ entry: TableEntry, as type: Element.Type) -> UnsafeBufferPointer<Element> {
    slot(entry, as: ArrayMemory.self).pointee.elements(as: type)
  }

  /// The bytes in a slot that is not nil.
  @inline(__always)
  func bytes(_ offset: Int) -> UnsafeRawBufferPointer { slot(offset, as: ArrayMemory.self).pointee.bytes }

  // MARK: Values

  /// Sets a number.
  @inline(__always)
  func set<Value: BitwiseCopyable>(_ entry: TableEntry, to value: Value) {
    if entry.shape == .oneof { select(entry) }
    if entry.presence == .bit { set(entry.bit) }
    slot(entry, as: Value.self).pointee = value
  }

  /// The message of a field, to be changed: created if there is none, and copied if it is shared.
  @inline(__always)
  func message(_ entry: TableEntry, of table: TableData) -> ObjectSlots {
    if entry.shape == .oneof { select(entry) }
    let slot = slot(entry, as: MessageObject?.self)
    if hasReference(entry.offset) {
      makeUnique(slot)
    } else {
      slot.initialize(to: MessageObject.make(table.message(of: entry)))
    }
    return ObjectSlots(base: self.slot(entry, as: UnsafeMutableRawPointer.self).pointee)
  }

  /// Takes the array or dictionary out of a slot, for a change in place. The caller puts it back unless it is empty.
  @inline(__always)
  func take<Collection>(_ entry: TableEntry, as type: Collection.Type) -> Collection? {
    let slot = slot(entry, as: Collection?.self)
    guard hasReference(entry.offset) else { return nil }
    let collection = slot.move()
    slot.initialize(to: nil)
    return collection
  }

  /// Puts an array or a dictionary into the slot that it was taken from.
  @inline(__always)
  func put<Collection>(_ collection: consuming Collection, in entry: TableEntry) {
    slot(entry, as: Collection.self).initialize(to: collection)
  }

  @inline(never)
  private func makeUnique(_ slot: UnsafeMutablePointer<MessageObject?>) {
    if !isKnownUniquelyReferenced(&slot.pointee) { slot.pointee = slot.pointee?.copy() }
  }

  // MARK: Destroying

  /// Releases what the slots refer to. Most of them are empty or hold short strings, which takes no call.
  func destroy() {
    destroyReference(MessageObject.Offsets.unknown)
    for reference in table.references {
      switch reference.kind {
      case .word: destroyReference(reference.offset)
      case .string: ObjectSlots.destroy(slot(reference.offset, as: String.self))
      case .strings: destroyStrings(reference.offset)
      case .oneof: destroyMember(of: reference.offset)
      }
    }
  }

  @inline(__always)
  private func destroyReference(_ offset: Int) {
    if hasReference(offset) { slot(offset, as: AnyObject.self).deinitialize(count: 1) }
  }

  @inline(__always)
  private static func destroy(_ string: UnsafeMutablePointer<String>) {
    let words = UnsafeMutableRawPointer(string).load(as: SmallString.Words.self)
    guard SmallString.isReference(words) else { return }
    if let object = SmallString.object(of: words) {
      // Avoids the calls that determine that it is an object.
      Unmanaged<AnyObject>.fromOpaque(object).release()
    } else {
      string.deinitialize(count: 1)
    }
  }

  /// Releases an array of strings. If nothing else refers to the array, its strings are destroyed here. The array
  /// itself would make several calls for each string, even for those without a reference.
  private func destroyStrings(_ offset: Int) {
    guard hasReference(offset) else { return }
    if isKnownUniquelyReferenced(&slot(offset, as: MessageObject.self).pointee) {
      let array = slot(offset, as: ArrayMemory.self).pointee
      for index in 0..<array.count {
        ObjectSlots.destroy((array.address(as: String.self) + index))
      }
      array.forgetElements()
    }
    slot(offset, as: AnyObject.self).deinitialize(count: 1)
  }

  private func destroyMember(of oneof: Int) {
    switch memberType(of: oneof) {
    case .string?: ObjectSlots.destroy(slot(oneof, as: String.self))
    case let type? where !type.isPackable: destroyReference(oneof)
    default: break
    }
  }

  func memberType(of oneof: Int) -> FieldType? {
    let number = member(oneof)
    return number == 0 ? nil : table.entry(number)?.type
  }
}
