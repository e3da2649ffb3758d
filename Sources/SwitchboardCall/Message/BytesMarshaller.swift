/// Messages that are bytes already.
@frozen
public struct BytesMarshaller: Marshaller {
  public let contentSubtype: ContentSubtype

  /// Bytes that a call's content type gives no name, or this one.
  @inlinable
  public init(_ contentSubtype: ContentSubtype = .unnamed) {
    self.contentSubtype = contentSubtype
  }

  /// Bytes without a name are whatever a client calls them.
  public func reads(_ subtype: ContentSubtype) -> Bool {
    contentSubtype.isUnnamed || subtype == contentSubtype
  }

  @inlinable
  public func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }

  @inlinable
  public func decode(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
