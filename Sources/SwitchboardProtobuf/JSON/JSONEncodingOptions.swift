/// How messages are written in JSON.
public struct JSONEncodingOptions: Sendable {
  /// Whether fields without presence are written when they have their default value, and repeated fields and maps
  /// when they are empty.
  public var alwaysPrintFieldsWithNoPresence = false

  /// Whether fields go by their names in the `.proto` file instead of their JSON names.
  public var preserveProtoFieldNames = false

  /// Whether enum values go by their numbers instead of their names.
  public var alwaysPrintEnumsAsInts = false

  /// Whether 64-bit integers are written as numbers, which many readers round, instead of strings.
  public var alwaysPrintInt64sAsNumbers = false

  /// Whether maps are written in the order of their keys, so that equal messages give equal text.
  public var deterministic = false

  /// The types that a `google.protobuf.Any` may hold.
  public var typeRegistry = TypeRegistry()

  /// The defaults: the JSON that every protobuf runtime reads, in its shortest form.
  public init() {}
}
