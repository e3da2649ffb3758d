/// How JSON input is read.
public struct JSONDecodingOptions: Sendable {
  /// How many levels of objects and arrays may be nested within the outermost message.
  public var messageDepthLimit = 100

  /// Whether fields, extensions and names of enum values that the schema does not know are passed over instead
  /// of refused.
  public var ignoreUnknownFields = false

  /// The types that a `google.protobuf.Any` may hold.
  public var typeRegistry = TypeRegistry()

  /// The defaults: a depth of 100, what is unknown is refused, and an `Any` may hold well-known types.
  public init() {}
}
