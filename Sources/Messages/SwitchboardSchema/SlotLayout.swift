/// Assigns each field of a message its slot. The generator writes the slots into accessors, and the runtime lays out
/// objects by them.
///
/// An object starts with the header of every Swift object (16 bytes), the table (8), the unknown fields (8) and the
/// presence bits in words of four bytes. The slots follow, the widest first, so that all are aligned. A oneof has 16
/// bytes for the value of any member, and the number of the member that is set. If you change the layout, rename the
/// argument of the initializer in `TableData+Generated.swift`.
package struct SlotLayout {
  /// A field, with what the layout depends on.
  package struct Field {
    package let number: Int32
    /// The bytes that the slot takes: 1, 4, 8 or 16.
    package let width: Int
    /// Whether a bit shows that the field is set.
    package let hasBit: Bool
    /// The index of the oneof, if the field is a member of one.
    package let oneof: Int?

    package init(number: Int32, width: Int, hasBit: Bool, oneof: Int?) {
      self.number = number
      self.width = width
      self.hasBit = hasBit
      self.oneof = oneof
    }
  }

  /// Where a field is: its slot in bytes from the address of the object, and its bit, if it has one.
  package struct Slot {
    package var offset = 0
    package var bit: Int?

    /// The slot of a field that has not been laid out.
    package init() {}
  }

  /// Why there is no layout.
  package enum Failure: Error {
    /// Two fields have the same number.
    case duplicateNumber(Int32)
    /// There are more fields or oneofs than an object may hold.
    case tooManyFields
  }

  package static let header = 32
  /// The bytes of a oneof.
  package static let oneofWidth = 24
  /// How many fields, and how many oneofs, a message may have. Larger ones would let a few bytes of input allocate too
  /// much.
  private static let maximumFields = 16_384
  /// The largest object, for the same reason: an element of a repeated field may take two bytes of input.
  private static let maximumSize = 160 * 1024

  /// The slot of each field, in the order of the fields.
  package private(set) var slots: [Slot]
  /// The size of the object.
  package private(set) var size = SlotLayout.header
  /// The slot of the extensions, if the message can have any.
  package private(set) var extensionsOffset: Int?
  /// The first oneof; the others follow.
  package private(set) var oneofsOffset = 0

  /// Lays out `fields`, which are in the order of their numbers.
  package init(_ fields: [Field], oneofs: Int, isExtensible: Bool) throws(Failure) {
    // A oneof takes memory even without members.
    guard max(fields.count, oneofs) <= SlotLayout.maximumFields else { throw .tooManyFields }
    for (left, right) in zip(fields, fields.dropFirst()) where left.number == right.number {
      throw .duplicateNumber(left.number)
    }
    slots = Array(repeating: Slot(), count: fields.count)
    var bits = 0
    for (index, field) in fields.enumerated() where field.hasBit {
      slots[index].bit = bits
      bits += 1
    }
    size += (bits + 31) / 32 * 4
    alignSize()
    if isExtensible {
      extensionsOffset = size
      size += 8
    }
    oneofsOffset = size
    size += SlotLayout.oneofWidth * oneofs
    for (index, field) in fields.enumerated() {
      if let oneof = field.oneof { slots[index].offset = oneofsOffset + SlotLayout.oneofWidth * oneof }
    }
    for width in [16, 8, 4, 1] {
      for (index, field) in fields.enumerated() where field.oneof == nil && field.width == width {
        slots[index].offset = size
        size += width
      }
    }
    alignSize()
    guard size <= SlotLayout.maximumSize else { throw .tooManyFields }
  }

  private mutating func alignSize() { size = (size + 7) & ~7 }
}
