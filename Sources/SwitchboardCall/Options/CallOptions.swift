/// What a caller may choose for one call.
public struct CallOptions: Sendable {
  /// How long the call may take; sent to the server and enforced on both sides. `nil`: for ever.
  public var timeout: Duration?
  /// Metadata that the call starts with.
  public var initialMetadata: HPACKHeaders
  /// Waits for a connection, as long as the deadline allows, where a call would otherwise fail at once
  /// because the last attempt to connect failed.
  public var waitForReady: Bool
  /// How request messages are compressed. Responses are as the server chooses, among what we announce.
  public var compression: MessageCompression
  /// The largest response message that is accepted. `nil`: the channel's own limit.
  public var responseSizeLimit: Int?
  /// The `:authority` to send in place of the channel's.
  public var serverAuthority: String?
  /// Makes interceptors for the call, in this order, before all others. `nil`: the client's.
  public var interceptorFactories: [any InterceptorFactory]?
  /// Whether the call may be repeated, or answered from a cache.
  public var safety = RequestOptions.Safety.default
  /// Where the call's interceptors log to; quiet by default.
  public var logger = Logger.quiet

  /// What is not given is as it would be without options.
  public init(
    timeout: Duration? = nil,
    initialMetadata: HPACKHeaders = HPACKHeaders(),
    waitForReady: Bool = false,
    compression: MessageCompression = .none,
    responseSizeLimit: Int? = nil,
    serverAuthority: String? = nil
  ) {
    self.timeout = timeout
    self.initialMetadata = initialMetadata
    self.waitForReady = waitForReady
    self.compression = compression
    self.responseSizeLimit = responseSizeLimit
    self.serverAuthority = serverAuthority
  }
}

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
