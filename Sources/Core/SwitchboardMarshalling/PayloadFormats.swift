import SwitchboardCall
import SwitchboardProtobuf

/// JSON for every message that supports it: protobuf's JSON for protobuf messages, and `Codable`'s for other types.
///
/// ```swift
/// var options = ServerOptions()
/// options.payloadFormats = [JSONFormat()]
/// ```
public struct JSONFormat: PayloadFormat {
  private let encoding: JSONEncodingOptions
  private let decoding: JSONDecodingOptions
  private let extensions: ExtensionRegistry?
  private let codable: @Sendable (any (Codable & Sendable).Type) -> any Marshaller

  /// `encoding`, `decoding` and `extensions` apply to protobuf messages.
  @_alwaysEmitIntoClient
  public init(
    encoding: JSONEncodingOptions = JSONEncodingOptions(),
    decoding: JSONDecodingOptions = JSONDecodingOptions(),
    extensions: ExtensionRegistry? = nil
  ) {
    self.init(encoding, decoding, extensions) { JSONFormat.codable($0) }
  }

  @usableFromInline
  init(
    _ encoding: JSONEncodingOptions,
    _ decoding: JSONDecodingOptions,
    _ extensions: ExtensionRegistry?,
    codable: @escaping @Sendable (any (Codable & Sendable).Type) -> any Marshaller
  ) {
    self.codable = codable
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

  @_alwaysEmitIntoClient
  static func codable<Payload: Codable & Sendable>(_ type: Payload.Type) -> any Marshaller {
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
  @_alwaysEmitIntoClient
  public static var json: PayloadChoice { PayloadChoice(JSONFormat()) }
  /// Protobuf in binary for every call, with an explicit name.
  public static var protobuf: PayloadChoice { PayloadChoice(ProtobufFormat()) }
}
