public import SwitchboardCall
public import SwitchboardProtobuf

/// Protobuf's binary format, written straight into the memory that the transport sends from.
@frozen
public struct ProtobufMarshaller<Message: SwitchboardProtobuf.Message>: Marshaller {
  /// All of them are alike.
  @inlinable
  public init() {}

  /// Protobuf is what a content type without a name has always meant; under its own name it is the same.
  public func reads(_ subtype: ContentSubtype) -> Bool { subtype.isUnnamed || subtype == .proto }

  @inlinable
  public func encode(_ message: Message) throws -> MessageBuffer {
    let size = try message.serializedSize()
    return try MessageBuffer(exactByteCount: size) { output in
      try message.serialize(into: &output)
    }
  }

  @inlinable
  public func decode(_ bytes: RawSpan) throws -> Message {
    try Message(serializedBytes: bytes)
  }
}
