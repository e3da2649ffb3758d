/// How much memory the objects of messages may still take, of types that were described at run time.
///
/// An object has a slot for each field of its type, whether it is set or not. A descriptor may come from whoever sends the
/// messages, and declare so many fields that two bytes of input would take 160 KiB. Generated types are not limited: the
/// program chose them.
struct ObjectBudget {
  /// What any input may take: a few hundred objects of the largest types.
  static let spare = 64 << 20
  /// What each byte of input may take besides: empty messages of a hundred bytes, one after the other, stay below it.
  private static let bytesPerByte = 64

  private var left: Int

  /// The budget for an input of `size` bytes.
  init(input size: Int, spare: Int = ObjectBudget.spare) {
    let (sum, overflows) = spare.addingReportingOverflow(ObjectBudget.bytesPerByte &* size)
    left = overflows ? .max : sum
  }

  /// Takes what an object of a type needs.
  mutating func claim(_ table: TableData) throws(DecodeError) {
    guard table.address.pointee.set != nil else { return }
    left -= table.size
    guard left >= 0 else {
      throw DecodeError(.malformed("the messages would take too much memory: their types have many fields"))
    }
  }
}
