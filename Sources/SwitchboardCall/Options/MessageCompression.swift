/// The message encodings that every gRPC peer knows.
@frozen
public enum MessageCompression: String, Sendable, CaseIterable {
  /// Messages travel as they are.
  case none = "identity"
  /// RFC 1952.
  case gzip
  /// RFC 1950: with zlib's wrapping, as HTTP means the word.
  case deflate
}
