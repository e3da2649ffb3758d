import SwitchboardText

/// The message types that a `google.protobuf.Any` may hold, by their full names.
///
/// JSON and the text format need a registry to write the message in an `Any`. Well-known types need no registration.
public struct TypeRegistry: Sendable, ExpressibleByArrayLiteral {
  private struct Types: Sendable {
    var byName: [ExactText: any Message.Type] = [:]
    var tablesByName: [ExactText: MessageTable] = [:]
    var extensions: ExtensionRegistry?
  }

  /// Its types, if it has any: one value at most. An array is copied by one reference, and options are copied with each
  /// message.
  private var types: [Types] = []

  /// The extensions to recognize in the messages that an `Any` holds.
  public var extensions: ExtensionRegistry? {
    get { types.first?.extensions }
    set { change { $0.extensions = newValue } }
  }

  /// A registry of only the well-known types.
  public init() {}

  /// A registry of `types` and the well-known types.
  public init(_ types: [any Message.Type], extensions: ExtensionRegistry? = nil) {
    if let extensions { self.extensions = extensions }
    for type in types { insert(type) }
  }

  public init(arrayLiteral elements: any Message.Type...) { self.init(elements) }

  /// Adds a type.
  public mutating func insert(_ type: any Message.Type) {
    change { $0.byName[type.protoMessageName] = type }
  }

  /// Adds a type that was described at run time. A type of the same name that the program was built with, or a
  /// well-known type, comes first.
  public mutating func insert(_ type: MessageTable) {
    change { $0.tablesByName[type.fullName] = type }
  }

  private mutating func change(_ change: (inout Types) -> Void) {
    if types.isEmpty { types.append(Types()) }
    change(&types[0])
  }

  /// The type with a full name.
  public func messageType(named name: String) -> (any Message.Type)? {
    types.first?.byName[name] ?? TypeRegistry.wellKnown[name]
  }

  /// The table of the type for a URL such as `type.googleapis.com/google.protobuf.Duration`; the name follows the last
  /// slash. It lives as long as the registry.
  func table(forURL url: String) -> TableData? {
    guard let name = url.part(afterLast: "/").map({ String($0) }) else { return nil }
    return messageType(named: name)?._table ?? types.first?.tablesByName[name]?.data
  }
}

extension TypeRegistry {
  /// The types that need no registration, by their full names.
  static let wellKnown: [ExactText: any Message.Type] = {
    let types: [any Message.Type] = [
      Google_Protobuf_Any.self, Google_Protobuf_Duration.self, Google_Protobuf_Empty.self,
      Google_Protobuf_FieldMask.self, Google_Protobuf_Timestamp.self,
      Google_Protobuf_Struct.self, Google_Protobuf_Value.self, Google_Protobuf_ListValue.self,
      Google_Protobuf_DoubleValue.self, Google_Protobuf_FloatValue.self,
      Google_Protobuf_Int64Value.self, Google_Protobuf_UInt64Value.self,
      Google_Protobuf_Int32Value.self, Google_Protobuf_UInt32Value.self,
      Google_Protobuf_BoolValue.self, Google_Protobuf_StringValue.self, Google_Protobuf_BytesValue.self,
    ]
    return Dictionary(types.map { (ExactText($0.protoMessageName), $0) }) { $1 }
  }()
}
