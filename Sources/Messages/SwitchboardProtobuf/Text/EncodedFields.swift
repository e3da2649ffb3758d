/// A cursor over fields in binary whose message type is unknown.
package struct EncodedFields {
  /// A value, as far as the wire type identifies it.
  package enum Value {
    case varint(UInt64)
    case fixed64(UInt64)
    case bytes(ArraySlice<UInt8>)
    case startGroup
    case endGroup
    case fixed32(UInt32)
  }

  /// The maximum nesting of groups.
  private static let depth = 100

  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Whether the bytes are a sequence of fields in which every group is closed.
  var isWellFormed: Bool {
    var fields = self
    var open: [Int32] = []
    while let (number, value) = fields.next() {
      if case .startGroup = value {
        guard open.count < EncodedFields.depth else { return false }
        open.append(number)
      }
      if case .endGroup = value {
        guard open.popLast() == number else { return false }
      }
    }
    return fields.rest.isEmpty && open.isEmpty
  }

  /// Reads a field. Nil at the end, or if the bytes are not a field; then the cursor does not move.
  package mutating func next() -> (number: Int32, value: Value)? {
    let start = rest
    guard let tag = varint().flatMap({ Tag(UInt32(truncatingIfNeeded: $0)) }), let value = value(tag.wireType)
    else {
      rest = start
      return nil
    }
    return (tag.number, value)
  }

  private mutating func value(_ type: WireType) -> Value? {
    switch type {
    case .varint: varint().map(Value.varint)
    case .fixed64: fixed(8).map(Value.fixed64)
    case .fixed32: fixed(4).map { Value.fixed32(UInt32(truncatingIfNeeded: $0)) }
    case .lengthDelimited: lengthDelimited().map(Value.bytes)
    case .startGroup: .startGroup
    case .endGroup: .endGroup
    }
  }

  private mutating func varint() -> UInt64? {
    var bits: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { return nil }
      bits |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return bits }
    }
    return nil
  }

  private mutating func fixed(_ count: Int) -> UInt64? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func lengthDelimited() -> ArraySlice<UInt8>? {
    guard let length = varint(), length <= UInt64(rest.count) else { return nil }
    let count = Int(length)
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
