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
    do throws(DecodeError) {
      return try Message(serializedBytes: bytes)
    } catch {
      throw error.ofBinary(bytes)
    }
  }

  public func decodesQuickly(_ bytes: RawSpan) -> Bool {
    Message.decodesQuickly(bytes, work: MessageBuffer.largeByteCount)
  }
}

extension DecodeError {
  /// The error, with its cause if the bytes are JSON, which a client sent with the content type of binary messages.
  @usableFromInline
  func ofBinary(_ bytes: RawSpan) -> DecodeError {
    let text = BytesMarshaller().decode(bytes)
    let last = text.last { $0 > 0x20 }
    guard text.first == UInt8(ascii: "{"), last == UInt8(ascii: "}") else { return self }
    var error = self
    error.reason = .malformed(
      "\(reason): it looks like JSON, and the content type says binary; that of JSON is application/grpc+json"
    )
    return error
  }
}
