/// How the bytes after a field's tag are framed.
@frozen
public enum WireType: UInt8, Sendable {
  /// A base-128 number.
  case varint = 0
  /// Eight bytes, little end first.
  case fixed64 = 1
  /// A length and that many bytes.
  case lengthDelimited = 2
  /// The start of a group, which lasts until its ``endGroup``.
  case startGroup = 3
  /// The end of a group.
  case endGroup = 4
  /// Four bytes, little end first.
  case fixed32 = 5
}
