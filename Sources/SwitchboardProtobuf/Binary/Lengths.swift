/// The lengths of nested values: the first pass of encoding records them, the second reads them in the same order.
///
/// The first few are stored inline, so that encoding most messages allocates nothing but the output.
@usableFromInline
struct Lengths {
  @usableFromInline static var inlineCapacity: Int { 16 }

  // 32 bits suffice: messages larger than 2 GiB are rejected after the first pass.
  @usableFromInline var first = InlineArray<16, UInt32>(repeating: 0)
  @usableFromInline var rest: [UInt32] = []
  @usableFromInline var count = 0

  @inlinable
  init() {}

  /// Records a length and returns its index, for a length that is set later.
  @inlinable
  @discardableResult
  mutating func append(_ length: Int) -> Int {
    let place = count
    count += 1
    if place < Lengths.inlineCapacity {
      first[place] = UInt32(truncatingIfNeeded: length)
    } else {
      rest.append(UInt32(truncatingIfNeeded: length))
    }
    return place
  }

  /// Sets the length at an index that ``append(_:)`` returned.
  @inlinable
  mutating func set(_ place: Int, to length: Int) {
    if place < Lengths.inlineCapacity {
      first[place] = UInt32(truncatingIfNeeded: length)
    } else {
      rest[place - Lengths.inlineCapacity] = UInt32(truncatingIfNeeded: length)
    }
  }

  /// The length at an index below ``count``.
  @inlinable
  subscript(place: Int) -> UInt32 {
    place < Lengths.inlineCapacity ? first[place] : rest[place - Lengths.inlineCapacity]
  }
}
