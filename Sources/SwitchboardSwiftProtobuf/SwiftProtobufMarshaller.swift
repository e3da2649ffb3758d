// The tests compile this file over a stand-in for SwiftProtobuf, which they do not fetch: what it uses of the
// library is what it says here.
#if SwiftProtobuf
  public import SwitchboardCall

  /// Messages that SwiftProtobuf generated, in binary.
  public struct SwiftProtobufMarshaller<Message: SwiftProtobufMessage & Sendable>: Marshaller {
    /// All of them are alike.
    public init() {}

    public func reads(_ subtype: ContentSubtype) -> Bool { subtype.isUnnamed || subtype == .proto }

    public func encode(_ message: Message) throws -> MessageBuffer {
      let bytes: [UInt8] = try message.serializedBytes()
      return MessageBuffer(bytes)
    }

    public func decode(_ bytes: RawSpan) throws -> Message {
      try Message(serializedBytes: BytesMarshaller().decode(bytes))
    }
  }

  /// Messages that SwiftProtobuf generated, in protobuf's JSON.
  public struct SwiftProtobufJSONMarshaller<Message: SwiftProtobufMessage & Sendable>: Marshaller {
    /// All of them are alike.
    public init() {}

    public var contentSubtype: ContentSubtype { .json }

    public func encode(_ message: Message) throws -> MessageBuffer {
      let bytes: [UInt8] = try message.jsonUTF8Bytes()
      return MessageBuffer(bytes)
    }

    public func decode(_ bytes: RawSpan) throws -> Message {
      try Message(jsonUTF8Bytes: BytesMarshaller().decode(bytes))
    }
  }

  /// Both formats, for messages that SwiftProtobuf generated: to be chosen by a call, or served beside a method's own.
  public struct SwiftProtobufFormat: PayloadFormat {
    public let contentSubtype: ContentSubtype

    /// Protobuf in binary, under the name `proto`.
    public static let binary = SwiftProtobufFormat(contentSubtype: .proto)
    /// Protobuf's JSON.
    public static let json = SwiftProtobufFormat(contentSubtype: .json)

    public func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
      guard let type = type as? any (SwiftProtobufMessage & Sendable).Type else { return nil }
      return marshaller(of: type) as? any Marshaller<Message>
    }

    private func marshaller<Payload: SwiftProtobufMessage & Sendable>(of type: Payload.Type) -> any Marshaller
    {
      if contentSubtype == .json { return SwiftProtobufJSONMarshaller<Payload>() }
      return SwiftProtobufMarshaller<Payload>()
    }
  }
#endif
