import Switchboard
import SwitchboardProtobuf

/// JSON for one method of a mock, for callers by Connect and gRPC-Web: its types are known only at run time, so that no
/// format for all methods has marshallers for them.
struct MockJSON: PayloadFormat {
  let method: MockMethod
  let types: TypeRegistry

  var contentSubtype: ContentSubtype { .json }

  func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
    switch type {
    case is DynamicMessage.Type: Messages(format: self) as? any Marshaller<Message>
    case is [UInt8].Type: Bytes(format: self) as? any Marshaller<Message>
    default: nil
    }
  }

  private func read(_ json: RawSpan) throws -> DynamicMessage {
    var options = JSONDecodingOptions()
    options.typeRegistry = types
    return try DynamicMessage(
      method.request,
      jsonUTF8Bytes: BytesMarshaller().decode(json),
      partial: true,
      options: options
    )
  }

  private func written(_ message: DynamicMessage) throws -> MessageBuffer {
    var options = JSONEncodingOptions()
    options.typeRegistry = types
    return MessageBuffer(try message.jsonUTF8Bytes(partial: true, options: options))
  }

  /// Reads requests and writes responses.
  private struct Messages: Marshaller {
    let format: MockJSON

    func encode(_ message: DynamicMessage) throws -> MessageBuffer { try format.written(message) }
    func decode(_ bytes: RawSpan) throws -> DynamicMessage { try format.read(bytes) }
  }

  /// The same for messages that are forwarded in binary.
  private struct Bytes: Marshaller {
    let format: MockJSON

    func encode(_ message: [UInt8]) throws -> MessageBuffer {
      try format.written(DynamicMessage(format.method.response, serializedBytes: message, partial: true))
    }

    func decode(_ bytes: RawSpan) throws -> [UInt8] { try format.read(bytes).serializedBytes(partial: true) }
  }
}
