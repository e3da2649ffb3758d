import SwitchboardCall

/// Bytes as a format of a name, so that `TestService` can be called by protocols that name all formats.
struct BytesFormat: PayloadFormat {
  var contentSubtype: ContentSubtype { .proto }

  func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
    BytesMarshaller() as? any Marshaller<Message>
  }
}
