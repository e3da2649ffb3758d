/// Options for writing the text format.
public struct TextFormatEncodingOptions: Sendable {
  /// Whether to write everything on one line.
  public var singleLine = false

  /// Whether to write unknown fields, by their numbers. Text with such fields cannot be read back.
  public var printUnknownFields = true

  /// The types for writing the content of a `google.protobuf.Any`. An `Any` of another type is written as its two
  /// fields.
  public var typeRegistry = TypeRegistry()

  /// The defaults: many lines, unknown fields written, and an empty registry.
  public init() {}
}
