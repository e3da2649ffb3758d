// unsafe: the memory of an object that the caller holds, at offsets from its table

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
    destroyMember(of: oneof, table.classes)
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

  /// Makes the array of a field that has none, of `count` elements. If one of them fails, it has those before it.
  @inline(__always)
  func make<Element, Failure: Error>(
    _ entry: TableEntry,
    _ type: ObjectClasses.Class,
    _ classes: ObjectClasses,
    count: Int,
    element: () throws(Failure) -> Element
  ) throws(Failure) {
    let array = ArrayMemory(type, of: Element.self, capacity: count, classes)
    var made = 0
    defer {
      if made > 0 {
        array.setCount(made)
        slot(entry, as: ArrayMemory.self).pointee = array
      } else {
        ObjectMemory(array.object).free()
      }
    }
    while made < count {
      (array.address(as: Element.self) + made).initialize(to: try element())
      made += 1
    }
  }

  @inline(never)
  private func makeUnique(_ slot: UnsafeMutablePointer<MessageObject?>) {
    if !isKnownUniquelyReferenced(&slot.pointee) { slot.pointee = slot.pointee?.copy() }
  }

  // MARK: Destroying

  /// Releases what the slots refer to. Most of them are empty or hold short strings, which takes no call.
  func destroy() {
    let table = table
    let classes = table.classes
    if hasReference(MessageObject.Offsets.unknown) {
      memory(MessageObject.Offsets.unknown).releaseFlat(classes)
    }
    for reference in table.references {
      let offset = reference.offset
      switch reference.kind {
      case .string:
        ObjectSlots.destroy(slot(offset, as: String.self), classes)
      case .oneof: destroyMember(of: offset, classes)
      case _ where !hasReference(offset): break
      case .other: slot(offset, as: AnyObject.self).deinitialize(count: 1)
      case .flat: memory(offset).releaseFlat(classes)
      case .strings: destroyStrings(memory(offset), classes)
      case .message: nested(offset).release(classes)
      case .messages: destroyMessages(memory(offset), classes)
      }
    }
  }

  @inline(__always)
  private func memory(_ offset: Int) -> ObjectMemory {
    ObjectMemory(slot(offset, as: UnsafeMutableRawPointer.self).pointee)
  }

  /// Releases a reference to the object of a message.
  private func release(_ classes: ObjectClasses) {
    let object = ObjectMemory(base)
    guard object.isSole(classes) else { return object.release() }
    let set = table.address.pointee.set
    destroy()
    set?.release()
    object.free()
  }

  @inline(__always)
  private static func destroy(_ string: UnsafeMutablePointer<String>, _ classes: ObjectClasses) {
    let words = UnsafeMutableRawPointer(string).load(as: SmallString.Words.self)
    guard SmallString.isReference(words) else { return }
    if let object = SmallString.object(of: words) {
      // Avoids the calls that determine that it is an object.
      StringMemory(ObjectMemory(UnsafeMutableRawPointer(mutating: object))).release(classes)
    } else {
      string.deinitialize(count: 1)
    }
  }

  /// Releases an array of strings. If nothing else refers to the array, its strings are destroyed here. The array
  /// itself would make several calls for each string, even for those without a reference.
  private func destroyStrings(_ object: ObjectMemory, _ classes: ObjectClasses) {
    guard object.isSole(classes) else { return object.release() }
    let array = ArrayMemory(object: object.address)
    for index in 0..<array.count { ObjectSlots.destroy(array.address(as: String.self) + index, classes) }
    object.free()
  }

  /// Releases an array of messages in the same way.
  private func destroyMessages(_ object: ObjectMemory, _ classes: ObjectClasses) {
    guard object.isSole(classes) else { return object.release() }
    let array = ArrayMemory(object: object.address)
    for message in array.elements(as: ObjectSlots.self) { message.release(classes) }
    object.free()
  }

  private func destroyMember(of oneof: Int, _ classes: ObjectClasses) {
    switch memberType(of: oneof) {
    case .string?: ObjectSlots.destroy(slot(oneof, as: String.self), classes)
    case .message?, .group?: if hasReference(oneof) { nested(oneof).release(classes) }
    case .bytes?: if hasReference(oneof) { memory(oneof).releaseFlat(classes) }
    default: break
    }
  }

  func memberType(of oneof: Int) -> FieldType? {
    let number = member(oneof)
    return number == 0 ? nil : table.entry(number)?.type
  }
}
