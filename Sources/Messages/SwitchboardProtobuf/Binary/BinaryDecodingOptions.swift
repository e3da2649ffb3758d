/// Options for reading binary input.
public struct BinaryDecodingOptions: Hashable, Sendable {
  /// How many levels of messages and groups may be nested in the outermost message.
  public var messageDepthLimit = 100

  /// Whether to drop fields that the type does not know instead of keeping them.
  public var discardUnknownFields = false

  /// The defaults: a depth limit of 100, and unknown fields are kept.
  @inlinable
  public init() {}
}
