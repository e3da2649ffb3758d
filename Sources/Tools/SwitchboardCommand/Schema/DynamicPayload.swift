import Switchboard
import SwitchboardLoad
import SwitchboardProtobuf

/// A message that is sent or received, as what the method's marshaller makes of it.
enum DynamicPayload: Sendable {
  /// Protobuf, of a type that is known only at run time.
  case message(DynamicMessage)
  /// JSON of a type that only the server knows.
  case json([UInt8])
  /// Another format, which the command does not read: in JSON, it is a string in base64.
  case bytes([UInt8])

  /// The bytes that are sent.
  func encoded() throws(EncodeError) -> [UInt8] {
    switch self {
    case .message(let message): try message.serializedBytes()
    case .json(let bytes), .bytes(let bytes): bytes
    }
  }
}

/// What the messages of one direction of a method are.
enum PayloadKind: Sendable {
  case message(MessageTable)
  case json
  case bytes(ContentSubtype)

  /// The message with this JSON. Throws if it is none.
  func payload(json bytes: [UInt8], _ types: TypeRegistry) throws(DecodeError) -> DynamicPayload {
    switch self {
    case .message(let table):
      var options = JSONDecodingOptions()
      options.typeRegistry = types
      return .message(try DynamicMessage(table, jsonUTF8Bytes: bytes, options: options))
    case .json: return .json(try ContentSubtype.json.foreignPayload(json: bytes))
    case .bytes(let format): return .bytes(try format.foreignPayload(json: bytes))
    }
  }

  /// What is sent if the user gives nothing.
  var empty: DynamicPayload {
    switch self {
    case .message(let table): .message(DynamicMessage(table))
    case .json: .json(Array("{}".utf8))
    case .bytes: .bytes([])
    }
  }

  /// The table of a protobuf message.
  var table: MessageTable? { if case .message(let table) = self { table } else { nil } }
}
