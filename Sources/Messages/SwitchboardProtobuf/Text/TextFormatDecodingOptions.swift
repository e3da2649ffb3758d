/// Options for reading the text format.
public struct TextFormatDecodingOptions: Sendable {
  /// How many levels of messages may be nested in the outermost message.
  public var messageDepthLimit = 100

  /// Whether to skip fields that the type does not know instead of rejecting them.
  public var ignoreUnknownFields = false

  /// Whether to skip extensions that are not registered instead of rejecting them.
  public var ignoreUnknownExtensions = false

  /// The types for reading a `google.protobuf.Any` that is written as `[type.googleapis.com/full.Name] { … }`.
  public var typeRegistry = TypeRegistry()

  /// The defaults: a depth limit of 100, unknown fields and extensions are errors, and an empty registry.
  public init() {}
}
