// unsafe: copies out of a span that is lent for one call

/// Passes bytes through unchanged.
@frozen
public struct BytesMarshaller: Marshaller {
  public let contentSubtype: ContentSubtype

  /// Creates a marshaller for calls with this content subtype, or with none.
  @inlinable
  public init(_ contentSubtype: ContentSubtype = .unnamed) { self.contentSubtype = contentSubtype }

  /// A marshaller without a content subtype accepts any.
  public func reads(_ subtype: ContentSubtype) -> Bool {
    contentSubtype.isUnnamed || subtype == contentSubtype
  }

  @inlinable
  public func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }

  @inlinable
  public func decode(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }

  public func decodesQuickly(_ bytes: RawSpan) -> Bool { true }
}
