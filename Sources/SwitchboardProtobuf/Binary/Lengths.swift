/// The lengths of nested values, noted in the first pass of encoding and taken in the second in the same order.
///
/// The first few stand in the value itself: most messages then encode without an allocation but that of the bytes.
@usableFromInline
struct Lengths {
  @usableFromInline static var inlineCapacity: Int { 16 }

  // 32 bits are enough: what is larger than 2 GiB as a whole is refused after the first pass.
  @usableFromInline var first = InlineArray<16, UInt32>(repeating: 0)
  @usableFromInline var rest: [UInt32] = []
  @usableFromInline var count = 0

  @inlinable
  init() {}

  /// Notes a length. The result is its place, for one that is known only later.
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

  /// Changes the length at a place that ``append(_:)`` gave.
  @inlinable
  mutating func set(_ place: Int, to length: Int) {
    if place < Lengths.inlineCapacity {
      first[place] = UInt32(truncatingIfNeeded: length)
    } else {
      rest[place - Lengths.inlineCapacity] = UInt32(truncatingIfNeeded: length)
    }
  }

  /// The length at a place below ``count``.
  @inlinable
  subscript(place: Int) -> UInt32 {
    place < Lengths.inlineCapacity ? first[place] : rest[place - Lengths.inlineCapacity]
  }
}
