import Switchboard
import SwitchboardProtobuf

/// A message that is sent or received, as what the method's marshaller makes of it.
package enum DynamicPayload: Sendable {
  /// Protobuf, of a type that is known only at run time.
  case message(DynamicMessage)
  /// JSON of a type that only the server knows.
  case json([UInt8])
  /// Another format, which only the server and its clients read: in JSON, it is a string in base64.
  case bytes([UInt8])

  /// The message in JSON. One in another format than protobuf and JSON is a string in base64.
  package func json(_ options: JSONEncodingOptions) throws(EncodeError) -> [UInt8] {
    switch self {
    case .message(let message): try message.jsonUTF8Bytes(options: options)
    case .json(let bytes): bytes
    case .bytes(let bytes): try Google_Protobuf_BytesValue(bytes).jsonUTF8Bytes()
    }
  }

  /// The beginning of the message in JSON, of about `limit` bytes at most, and whether it is all of it.
  package func jsonStart(
    _ limit: Int,
    _ options: JSONEncodingOptions
  ) throws(EncodeError) -> (bytes: [UInt8], isWhole: Bool) {
    switch self {
    case .message(let message): try message.jsonStart(limit, options: options)
    case .json(let bytes): (Array(bytes.prefix(limit)), bytes.count <= limit)
    case .bytes(let bytes): try Google_Protobuf_BytesValue(bytes).jsonStart(limit)
    }
  }

  /// The bytes that are sent.
  package func encoded() throws(EncodeError) -> [UInt8] {
    switch self {
    case .message(let message): try message.serializedBytes()
    case .json(let bytes), .bytes(let bytes): bytes
    }
  }
}

/// What the messages of one direction of a method are.
package enum PayloadKind: Sendable {
  case message(MessageTable)
  case json
  case bytes(ContentSubtype)

  /// The message with this JSON. Throws if it is none.
  package func payload(json bytes: [UInt8], _ types: TypeRegistry) throws(DecodeError) -> DynamicPayload {
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
  package var empty: DynamicPayload {
    switch self {
    case .message(let table): .message(DynamicMessage(table))
    case .json: .json(Array("{}".utf8))
    case .bytes: .bytes([])
    }
  }

  /// The table of a protobuf message.
  package var table: MessageTable? { if case .message(let table) = self { table } else { nil } }
}
