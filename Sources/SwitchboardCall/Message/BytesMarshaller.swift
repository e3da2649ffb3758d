/// Passes bytes through unchanged.
@frozen
public struct BytesMarshaller: Marshaller {
  public let contentSubtype: ContentSubtype

  /// Calls have no content subtype, or this one.
  @inlinable
  public init(_ contentSubtype: ContentSubtype = .unnamed) {
    self.contentSubtype = contentSubtype
  }

  /// Without a content subtype, any is accepted.
  public func reads(_ subtype: ContentSubtype) -> Bool {
    contentSubtype.isUnnamed || subtype == contentSubtype
  }

  @inlinable
  public func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }

  @inlinable
  public func decode(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
