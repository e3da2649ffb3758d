import SwitchboardCall
import SwitchboardProtobuf

/// Marshals messages in protobuf's binary format, encoding straight into the transport's buffer.
@frozen
public struct ProtobufMarshaller<Message: SwitchboardProtobuf.Message>: Marshaller {
  /// Creates the marshaller, which has no options.
  @inlinable
  public init() {}

  /// A content type without a subtype means protobuf, as does the subtype `proto`.
  public func reads(_ subtype: ContentSubtype) -> Bool { subtype.isUnnamed || subtype == .proto }

  @inlinable
  public func encode(_ message: Message) throws -> MessageBuffer {
    try message.withSerializedBytes { bytes in
      try MessageBuffer(exactByteCount: bytes.byteCount) { output in try bytes.append(to: &output) }
    }
  }

  @inlinable
  public func decode(_ bytes: RawSpan) throws -> Message {
    try Message(serializedBytes: bytes)
  }

  public func decodesQuickly(_ bytes: RawSpan) -> Bool {
    Message.decodesQuickly(bytes, work: MessageBuffer.largeByteCount)
  }
}
