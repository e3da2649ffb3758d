import SwitchboardCall
import SwitchboardProtobuf

/// Marshals protobuf messages as JSON.
public struct ProtobufJSONMarshaller<Message: SwitchboardProtobuf.Message>: Marshaller {
  private let encoding: JSONEncodingOptions
  private let decoding: JSONDecodingOptions
  private let extensions: ExtensionRegistry?

  /// Uses these options, and decodes the extensions in the registry.
  public init(
    encoding: JSONEncodingOptions = JSONEncodingOptions(),
    decoding: JSONDecodingOptions = JSONDecodingOptions(),
    extensions: ExtensionRegistry? = nil
  ) {
    self.encoding = encoding
    self.decoding = decoding
    self.extensions = extensions
  }

  public var contentSubtype: ContentSubtype { .json }

  public func encode(_ message: Message) throws -> MessageBuffer {
    try message.withJSONUTF8Bytes(options: encoding) { MessageBuffer($0) }
  }

  public func decode(_ bytes: RawSpan) throws -> Message {
    let copy = BytesMarshaller().decode(bytes)
    return try Message(jsonUTF8Bytes: copy, extensions: extensions, options: decoding)
  }
}
