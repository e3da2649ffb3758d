public import SwitchboardCall
public import SwitchboardProtobuf

/// JSON for every message that supports it: protobuf's JSON for protobuf messages, and `Codable`'s for other types.
public struct JSONFormat: PayloadFormat {
  private let encoding: JSONEncodingOptions
  private let decoding: JSONDecodingOptions
  private let extensions: ExtensionRegistry?

  /// `encoding`, `decoding` and `extensions` apply to protobuf messages.
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

  public func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
    if let type = type as? any SwitchboardProtobuf.Message.Type {
      return protobuf(type) as? any Marshaller<Message>
    }
    if let type = type as? any (Codable & Sendable).Type { return codable(type) as? any Marshaller<Message> }
    return nil
  }

  private func protobuf<Payload: SwitchboardProtobuf.Message>(_ type: Payload.Type) -> any Marshaller {
    ProtobufJSONMarshaller<Payload>(encoding: encoding, decoding: decoding, extensions: extensions)
  }

  private func codable<Payload: Codable & Sendable>(_ type: Payload.Type) -> any Marshaller {
    CodableJSONMarshaller<Payload>()
  }
}

/// Protobuf in binary with an explicit name: the content type is `application/grpc+proto`.
public struct ProtobufFormat: PayloadFormat {
  /// Creates the format, which has no options.
  public init() {}

  public var contentSubtype: ContentSubtype { .proto }

  public func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
    guard let type = type as? any SwitchboardProtobuf.Message.Type else { return nil }
    return protobuf(type) as? any Marshaller<Message>
  }

  private func protobuf<Payload: SwitchboardProtobuf.Message>(_ type: Payload.Type) -> any Marshaller {
    ProtobufMarshaller<Payload>()
  }
}

extension PayloadChoice {
  /// JSON for every call.
  public static var json: PayloadChoice { PayloadChoice(JSONFormat()) }
  /// Protobuf in binary for every call, with an explicit name.
  public static var protobuf: PayloadChoice { PayloadChoice(ProtobufFormat()) }
}
