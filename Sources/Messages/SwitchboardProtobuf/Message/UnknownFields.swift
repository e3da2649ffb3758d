/// The fields of a message that its Swift type does not know, in the order and with the bytes that came on the wire.
///
/// A message writes them back when it is encoded, so that a program built with an older schema loses nothing.
public struct UnknownFields: Hashable, Sendable {
  /// The encoded fields, tags included, one after the other.
  public var bytes: [UInt8]

  /// An empty set of fields.
  @inlinable
  public init() { bytes = [] }

  /// Whether there are no unknown fields.
  @inlinable
  public var isEmpty: Bool { bytes.isEmpty }
}
