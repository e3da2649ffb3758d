/// A marshaller chosen at run time.
@frozen
@usableFromInline package struct AnyMarshaller<Message: Sendable>: Marshaller {
  @usableFromInline let base: (any Marshaller<Message>)?
  @usableFromInline package let contentSubtype: ContentSubtype

  /// Wraps `base`. Calls have the given content subtype, or else that of `base`.
  @usableFromInline package init(_ base: any Marshaller<Message>, as contentSubtype: ContentSubtype? = nil) {
    self.base = base
    self.contentSubtype = contentSubtype ?? base.contentSubtype
  }

  /// Creates a marshaller that always fails, because the format has none for these messages.
  init(missingFrom format: any PayloadFormat) {
    base = nil
    contentSubtype = format.contentSubtype
  }

  @usableFromInline package func encode(_ message: Message) throws -> MessageBuffer {
    try marshaller().encode(message)
  }

  @usableFromInline package func decode(_ bytes: RawSpan) throws -> Message { try marshaller().decode(bytes) }

  @usableFromInline package func decodesQuickly(_ bytes: RawSpan) -> Bool {
    base?.decodesQuickly(bytes) ?? true
  }

  private func marshaller() throws(GRPCStatus) -> any Marshaller<Message> {
    if let base { return base }
    throw GRPCStatus(
      code: .internalError,
      message: "\(contentSubtype.contentType) has no marshaller for \(Message.self)",
      origin: .user
    )
  }
}
