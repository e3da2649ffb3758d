/// Options for reading JSON.
public struct JSONDecodingOptions: Sendable {
  /// How many levels of objects and arrays may be nested in the outermost message.
  public var messageDepthLimit = 100

  /// Whether to skip fields, extensions and enum value names that the schema does not know instead of rejecting them.
  public var ignoreUnknownFields = false

  /// The types that a `google.protobuf.Any` may hold.
  public var typeRegistry = TypeRegistry()

  /// The defaults: a depth limit of 100, unknown names are rejected, and an `Any` may hold well-known types.
  public init() {}
}
