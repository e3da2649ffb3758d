/// The message encodings that every gRPC implementation supports.
@frozen
public enum MessageCompression: String, Sendable, CaseIterable {
  /// No compression.
  case none = "identity"
  /// RFC 1952.
  case gzip
  /// RFC 1950: the zlib format, which HTTP calls deflate.
  case deflate
}
