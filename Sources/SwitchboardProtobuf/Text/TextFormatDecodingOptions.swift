/// How a message in the text format is read.
public struct TextFormatDecodingOptions: Sendable {
  /// How many levels of messages may be nested within the outermost message.
  public var messageDepthLimit = 100

  /// Whether fields that the type does not know are passed over instead of refused.
  public var ignoreUnknownFields = false

  /// Whether extensions that are not registered are passed over instead of refused.
  public var ignoreUnknownExtensions = false

  /// The types with which to read a `google.protobuf.Any` that is written as `[type.googleapis.com/full.Name] { … }`.
  public var typeRegistry = TypeRegistry()

  /// The defaults: a depth of 100, unknown fields and extensions are errors, and an empty registry.
  public init() {}
}
