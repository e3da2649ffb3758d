/// How binary input is read.
public struct BinaryDecodingOptions: Hashable, Sendable {
  /// How many levels of messages and groups may be nested within the outermost message.
  public var messageDepthLimit = 100

  /// Whether fields that the type does not know are dropped instead of kept.
  public var discardUnknownFields = false

  /// The defaults: a depth of 100, and unknown fields are kept.
  @inlinable
  public init() {}
}
