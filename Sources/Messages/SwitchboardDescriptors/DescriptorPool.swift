import SwitchboardProtobuf
import SwitchboardText

/// The types that descriptors declare, for messages whose type is known only at run time.
///
///     let pool = try DescriptorPool(files)
///     guard let type = pool.messageType(named: "shop.Order") else { return }
///     let order = try DynamicMessage(type, serializedBytes: bytes)
///
/// Descriptors come from `protoc --descriptor_set_out --include_imports`, from gRPC reflection, or from any other place:
/// nothing in them is trusted.
public struct DescriptorPool: Sendable {
  /// The longest full name, and the longest name of a file, in bytes.
  package static let longestName = 1_000

  private let messages: [ExactText: MessageTable]
  private let enums: [ExactText: EnumTable]

  /// Makes the types of all files in a set.
  public init(_ set: Google_Protobuf_FileDescriptorSet) throws(DescriptorError) { try self.init(set.file) }

  /// Makes the types of `files`, which may be in any order but must include all imports. A file may occur more than
  /// once if all copies are equal.
  public init(_ files: [Google_Protobuf_FileDescriptorProto]) throws(DescriptorError) {
    var builder = PoolBuilder()
    try builder.add(files)
    let tables = try builder.tables()
    messages = Dictionary(tables.map { (ExactText($0.fullName), $0) }) { first, _ in first }
    enums = builder.declared.enumsByName
  }

  /// The message type with a full name, such as `google.protobuf.Any`.
  public func messageType(named name: String) -> MessageTable? { messages[name] }

  /// The enum with a full name.
  public func enumType(named name: String) -> EnumTable? { enums[name] }

  /// All message types, sorted by their full names.
  public var messageTypes: [MessageTable] { messages.values.sorted { $0.fullName.precedes($1.fullName) } }

  /// A registry with all message types, for JSON and text with messages in `google.protobuf.Any`.
  public var typeRegistry: TypeRegistry {
    var registry = TypeRegistry()
    for type in messages.values { registry.insert(type) }
    return registry
  }
}
