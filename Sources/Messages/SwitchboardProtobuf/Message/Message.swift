/// A protobuf message: a value that the formats read and write by a table of its fields.
///
/// Only generated types conform: the struct of a message has its ``MessageStorage`` as the only property. Users call the
/// extensions of this protocol: ``with(_:)``, `init(serializedBytes:)`, `serializedBytes()`, `init(jsonString:)`,
/// `jsonString()`, `textFormatString()`.
public protocol Message: DeclaredType, Hashable, CustomDebugStringConvertible, CustomReflectable {
  /// The fields of the type.
  static var _table: TableData { get }

  /// The fields of this message.
  var _storage: MessageStorage { get set }

  /// Creates a message in which nothing is set.
  init()
}

extension Message {
  /// The full name of the message's type in its `.proto` file, such as `google.protobuf.Any`.
  public static var protoMessageName: String { _table.fullName }

  /// The fields on the wire that the type does not know.
  public var unknownFields: UnknownFields {
    get { _storage.unknownFields }
    _modify { yield &_storage.unknownFields }
  }

  /// Whether every `required` field is set, in this message and in all messages in it.
  public var isInitialized: Bool { _storage.isInitialized }

  /// The fields that are set, by their names in the `.proto` file, for `dump` and debuggers.
  public var customMirror: Mirror { _storage.mirror(of: self) }

  /// Creates a message and sets its fields in one expression.
  ///
  ///     let request = Echo_EchoRequest.with { $0.text = "Hello" }
  @inlinable
  public static func with(_ populate: (inout Self) throws -> Void) rethrows -> Self {
    var message = Self()
    try populate(&message)
    return message
  }
}

// Shared by all messages: equality and hashing go by the fields.
extension Message {
  public static func == (left: Self, right: Self) -> Bool { left._storage == right._storage }

  public func hash(into hasher: inout Hasher) { _storage.hash(into: &hasher) }
}
