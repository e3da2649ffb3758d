/// Options for writing binary output.
public struct BinaryEncodingOptions: Hashable, Sendable {
  /// Whether equal messages encode to equal bytes within one build of a program: map entries are sorted by key.
  public var deterministic = false

  /// The defaults: map entries in any order.
  @inlinable
  public init() {}
}
