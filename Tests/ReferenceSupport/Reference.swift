import CReference
import SwitchboardProtoCompiler

/// Messages of one schema as libprotobuf reads and writes them.
public final class Reference: Sendable {
  /// A format that a message has.
  public enum Format: Sendable, Hashable, CaseIterable {
    case binary, json, text
  }

  /// libprotobuf's options for reading and writing.
  public struct Options: Sendable, Hashable {
    /// JSON input: skip fields that the schema does not know.
    public var ignoreUnknownFields = false
    /// JSON output: print fields without presence that have their default value.
    public var printDefaultValues = false
    /// JSON output: field names as in the `.proto`.
    public var preserveFieldNames = false
    /// JSON output: enum values as numbers.
    public var enumsAsIntegers = false
    /// Text output: on one line.
    public var singleLine = false

    public init() {}
  }

  /// A converted message.
  public struct Conversion: Sendable, Hashable {
    public var bytes: [UInt8]
    /// Whether every required field is set.
    public var isInitialized: Bool
    /// ``bytes`` as text, for JSON and the text format.
    public var string: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// Why libprotobuf rejects an input.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String
  }

  private let schema: SchemaHandle

  /// The types in a serialized `google.protobuf.FileDescriptorSet`, each file after its imports.
  public init(descriptorSet: [UInt8]) throws(Failure) {
    schema = try SchemaHandle(linking: descriptorSet, with: reference_schema_from_set)
  }

  /// The types in a serialized `google.protobuf.compiler.CodeGeneratorRequest`.
  public init(request: [UInt8]) throws(Failure) {
    schema = try SchemaHandle(linking: request, with: reference_schema_from_request)
  }

  /// The types in `.proto` files and their imports, looked up in `includeDirectories`.
  public convenience init(protos files: [String], includeDirectories: [String]) throws {
    let compiler = ProtoCompiler(includeDirectories: includeDirectories + ["/usr/include"])
    try self.init(request: compiler.compile(files).request)
  }

  /// Parses `bytes` as a message of the type `type` (its full name, without a leading dot) and serializes it in a
  /// format. Binary output is deterministic.
  ///
  /// libprotobuf 3.21 has two gaps: its JSON does not support extensions, and reading JSON needs every required field.
  public func convert(
    _ type: String,
    from input: Format,
    _ bytes: [UInt8],
    to output: Format,
    options: Options = Options()
  ) throws(Failure) -> Conversion {
    try schema.convert(type, from: input, bytes, to: output, options: options)
  }
}
