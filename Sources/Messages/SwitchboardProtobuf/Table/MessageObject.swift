// unsafe: a message's slots in one allocation, at offsets from its table; an object that others hold is never
//   written
// text: the layout of a dictionary

/// The object behind a message: its table, unknown fields, presence bits and slots in one allocation, laid out by
/// ``TableLayout``.
///
/// The class has no stored properties: after the header of the object comes raw memory that only this file and
/// ``MessageStorage`` read and write, at the offsets of the object's table. Zeroed memory is a valid object in which
/// nothing is set: the optionals of `String`, arrays, dictionaries and references are nil when all their bits are zero
/// (``hasExpectedLayout``). An object with several references is never written, so threads may share it.
@usableFromInline
final class MessageObject: @unchecked Sendable {
  // Never called: `make(_:)` allocates.
  private init() {}

  deinit {
    slots.destroy()
    table.address.pointee.set?.release()
  }

  /// A new object in which nothing is set.
  static func make(_ table: TableData) -> MessageObject {
    let object: MessageObject
    let classes = table.classes
    if classes.message.isKnown {
      let memory = ObjectMemory(classes.message, size: table.size, classes)
      memory.address.storeBytes(of: table, toByteOffset: Offsets.table, as: TableData.self)
      object = Unmanaged<MessageObject>.fromOpaque(memory.address).takeRetainedValue()
    } else {
      let buffer = ManagedBufferPointer<TableData, UInt64>(
        bufferClass: MessageObject.self,
        minimumCapacity: (table.size - Offsets.unknown) / 8
      ) { _, _ in table }
      object = unsafeDowncast(buffer.buffer, to: MessageObject.self)
    }
    let slots = UnsafeMutableRawBufferPointer(
      start: object.base + Offsets.unknown,
      count: table.size - Offsets.unknown
    )
    slots.initializeMemory(as: UInt8.self, repeating: 0)
    _ = table.address.pointee.set?.retain()  // An object keeps the set of its table.
    return object
  }

  /// The offsets that are the same in all objects, in bytes from the address.
  @usableFromInline
  enum Offsets {
    static let table = 16
    static let unknown = 24
    @inlinable
    static var bits: Int { 32 }
  }

  /// The address of the object, which stays valid as long as the caller has a reference to it.
  @inlinable @inline(__always)
  var base: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The memory, valid as long as the address is.
  @inline(__always)
  var slots: ObjectSlots { ObjectSlots(base: base) }

  @inline(__always)
  var table: TableData { slots.table }

  /// A slot as a value of `type`, which must be the table's type for the offset.
  @inlinable @inline(__always)
  func slot<Value>(_ offset: Int, as type: Value.Type) -> UnsafeMutablePointer<Value> {
    (base + offset).assumingMemoryBound(to: type)
  }

  // MARK: Presence

  @inlinable @inline(__always)
  func bit(_ bit: Int) -> Bool {
    slot(Offsets.bits + bit / 32 * 4, as: UInt32.self).pointee & 1 << UInt32(bit % 32) != 0
  }

  @inlinable @inline(__always)
  func set(_ bit: Int) { slot(Offsets.bits + bit / 32 * 4, as: UInt32.self).pointee |= 1 << UInt32(bit % 32) }

  func clear(_ bit: Int) {
    slot(Offsets.bits + bit / 32 * 4, as: UInt32.self).pointee &= ~(1 << UInt32(bit % 32))
  }

  /// The number of the member of a oneof that is set, or 0.
  @inlinable @inline(__always)
  func member(_ oneof: Int) -> Int32 { slot(oneof + 16, as: Int32.self).pointee }

  /// Destroys the value of a oneof, if there is one, and selects the member `number`, whose value is zeroed.
  @usableFromInline
  func select(_ number: Int32, in oneof: Int) {
    slots.select(number, in: oneof)
  }

  // MARK: Copying

  /// A copy that refers to the same nested messages.
  @usableFromInline
  func copy() -> MessageObject {
    let table = table
    let copy = MessageObject.make(table)
    let count = table.size - Offsets.unknown
    (copy.base + Offsets.unknown).copyMemory(from: base + Offsets.unknown, byteCount: count)
    // The bits are already copied. Initializing the slots from the originals retains the objects that they refer to.
    copy.initialize(from: self, at: Offsets.unknown, as: AnyObject?.self)
    for reference in table.references {
      switch reference.kind {
      case .string: copy.initialize(from: self, at: reference.offset, as: String?.self)
      case .oneof:
        switch slots.memberType(of: reference.offset) {
        case .string?: copy.initialize(from: self, at: reference.offset, as: String?.self)
        case let type? where !type.isPackable:
          copy.initialize(from: self, at: reference.offset, as: AnyObject?.self)
        default: break
        }
      default: copy.initialize(from: self, at: reference.offset, as: AnyObject?.self)
      }
    }
    return copy
  }

  private func initialize<Value>(from other: MessageObject, at offset: Int, as type: Value.Type) {
    slot(offset, as: type).initialize(to: other.slot(offset, as: type).pointee)
  }

  // MARK: Assumptions

  /// Whether this process has the layout that this file assumes; checked once, before a table is made.
  static let hasExpectedLayout: Bool = {
    // The header of an object is 16 bytes; optionals of these types have no byte of their own.
    guard MemoryLayout<Int>.size == 8, MemoryLayout<String?>.size == 16, MemoryLayout<[Int]?>.size == 8,
      MemoryLayout<[String: Int]?>.size == 8, MemoryLayout<MessageObject?>.size == 8, ArrayMemory.isKnown
    else { return false }
    let long = unsafeBitCast(String(repeating: "a", count: 20), to: SmallString.Words.self)
    // The object of a long string must contain its text.
    if let object = SmallString.object(of: long) {
      guard SmallString.longText(of: long)?.baseAddress == object + 32 else { return false }
    }
    // Zero bits mean nil. Arrays and dictionaries are a single reference that can be counted without their type.
    return unsafeBitCast((UInt64(0), UInt64(0)), to: String?.self) == nil
      && unsafeBitCast(UInt64(0), to: [String]?.self) == nil
      && unsafeBitCast(UInt64(0), to: [Int32: Bool]?.self) == nil
      && unsafeBitCast(UInt64(0), to: AnyObject?.self) == nil
      && SmallString.isReference(long)
  }()
}
