/// The compression of messages. Every gRPC implementation has the first three.
@frozen
public enum MessageCompression: String, Sendable, CaseIterable {
  /// No compression.
  case none = "identity"
  /// RFC 1952.
  case gzip
  /// RFC 1950: the zlib format, which HTTP calls deflate.
  case deflate
  /// RFC 8878.
  case zstd
  /// RFC 7932.
  case brotli = "br"
}
