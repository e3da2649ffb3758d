/// How binary output is written.
public struct BinaryEncodingOptions: Hashable, Sendable {
  /// Whether equal messages give equal bytes in one build of a program: the entries of maps are sorted by key.
  public var deterministic = false

  /// The defaults: maps in any order.
  @inlinable
  public init() {}
}
