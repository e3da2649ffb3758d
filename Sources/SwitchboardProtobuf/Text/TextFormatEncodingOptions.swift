/// How a message is written in the text format.
public struct TextFormatEncodingOptions: Sendable {
  /// Whether all stands on one line.
  public var singleLine = false

  /// Whether fields that the type does not know are written, by their numbers. Text with such fields does not read back.
  public var printUnknownFields = true

  /// The types with which to write what a `google.protobuf.Any` holds. One of another type is written as its two
  /// fields.
  public var typeRegistry = TypeRegistry()

  /// The defaults: many lines, unknown fields written, and an empty registry.
  public init() {}
}
