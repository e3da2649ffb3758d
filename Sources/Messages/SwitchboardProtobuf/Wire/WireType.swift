/// The encoding of a field's value after its tag.
@frozen
public enum WireType: UInt8, Sendable {
  /// A varint.
  case varint = 0
  /// Eight bytes, little-endian.
  case fixed64 = 1
  /// A length and that many bytes.
  case lengthDelimited = 2
  /// The start of a group, which ends at its ``endGroup``.
  case startGroup = 3
  /// The end of a group.
  case endGroup = 4
  /// Four bytes, little-endian.
  case fixed32 = 5
}
