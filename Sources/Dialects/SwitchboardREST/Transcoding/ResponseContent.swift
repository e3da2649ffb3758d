import Switchboard
import SwitchboardProtobuf

/// The HTTP body of a response message that is not JSON: a `google.api.HttpBody`.
struct ResponseContent: Sendable {
  var contentType: String
  var bytes: [UInt8]

  private init(contentType: String, bytes: [UInt8]) {
    self.contentType = contentType
    self.bytes = bytes
  }

  /// An `HttpBody`.
  private init(_ body: DynamicMessage) {
    contentType = ""
    bytes = []
    if case .string(let type)? = body.value("content_type") { contentType = type }
    if case .bytes(let data)? = body.value("data") { bytes = data }
  }
}

// On the way from the marshaller to the exchange.
extension ResponseContent {
  /// Encodes the part of a message that the route returns: JSON as it is, and other bytes after their media type and its
  /// size.
  static func buffer(
    _ message: DynamicMessage,
    of route: RESTRoute,
    options: JSONEncodingOptions
  ) throws(EncodeError) -> MessageBuffer {
    switch route.responseBody {
    case .json(nil):
      return try message.withJSONUTF8Bytes(options: options) { MessageBuffer($0) }
    case .json(let field?):
      try message.checkInitialized()
      return MessageBuffer(try message.jsonUTF8Bytes(ofField: field, options: options) ?? Self.absent(field))
    case .raw(let field):
      try message.checkInitialized()
      guard let field else { return Self(message).buffer }
      guard case .message(let body)? = message.value(field.name) else {
        return Self(contentType: "", bytes: []).buffer
      }
      return Self(body).buffer
    }
  }

  /// The JSON of a field that is not set.
  private static func absent(_ field: TableField) -> [UInt8] {
    if field.mapKey != nil { return Array("{}".utf8) }
    if field.isRepeated { return Array("[]".utf8) }
    return switch field.defaultValue {
    case .string?, .bytes?: Array("\"\"".utf8)
    case .bool?: Array("false".utf8)
    case .int64?, .uint64?: Array("\"0\"".utf8)
    case .int32?, .uint32?, .float?, .double?: Array("0".utf8)
    case .enumeration?, .message?, .list?, .map?, nil: Array("null".utf8)
    }
  }

  private var buffer: MessageBuffer {
    var framed: [UInt8] = []
    framed.append(size: contentType.utf8.count)
    return MessageBuffer(framed + Array(contentType.utf8) + bytes)
  }

  /// Reads the buffer of what is not JSON.
  init(_ buffer: MessageBuffer) {
    let bytes = buffer.withBytes { BytesMarshaller().decode($0) }
    var end = 0
    let type = bytes.part(at: &end)
    self.init(contentType: String(decoding: bytes[type], as: UTF8.self), bytes: Array(bytes[end...]))
  }
}
