/// The fields of a message that its Swift type does not know, kept as they came on the wire, in order.
///
/// A message writes them back when it is encoded, so that passing through a program built
/// against an older schema loses nothing.
public struct UnknownFields: Hashable, Sendable {
  /// The encoded fields, tags included, one after the other.
  public var bytes: [UInt8]

  /// An empty set of fields.
  @inlinable
  public init() { bytes = [] }

  /// Whether there are none.
  @inlinable
  public var isEmpty: Bool { bytes.isEmpty }
}
