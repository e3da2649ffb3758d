/// Options for writing JSON.
public struct JSONEncodingOptions: Sendable {
  /// Whether to write fields without presence that have their default value, and empty repeated fields and maps.
  public var alwaysPrintFieldsWithNoPresence = false

  /// Whether to use the field names of the `.proto` file instead of the JSON names.
  public var preserveProtoFieldNames = false

  /// Whether to write enum values as numbers instead of names.
  public var alwaysPrintEnumsAsInts = false

  /// Whether to write 64-bit integers as numbers, which many readers round, instead of strings.
  public var alwaysPrintInt64sAsNumbers = false

  /// Whether to sort map entries by key, so that equal messages give equal text.
  public var deterministic = false

  /// The types that a `google.protobuf.Any` may hold.
  public var typeRegistry = TypeRegistry()

  /// The defaults: the JSON that every protobuf runtime reads, in its shortest form.
  public init() {}
}
