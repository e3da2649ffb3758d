// Options of one call, on any channel.
extension CallOptions {
  /// Removes the timeout that a client's options set.
  public static let noTimeout = Duration(secondsComponent: .max, attosecondsComponent: 0)

  /// How long the call may take; sent to the server and enforced on both sides. `nil` or `noTimeout`: no limit.
  public var timeout: Duration? {
    get { box?.choices.timeout.flatMap { $0 == Self.noTimeout ? nil : $0 } }
    set { choose { $0.timeout = newValue } }
  }

  /// Metadata at the start of the call. It replaces the client's, unless it is empty.
  ///
  /// Fields that HTTP and gRPC set themselves are left out (`:path`, `te`, `content-type`, `user-agent`, `grpc-timeout`
  /// and the like), so that the metadata of one call can be sent with another. A name or a value that HTTP does not
  /// allow fails the call with `INTERNAL` before anything is sent.
  public var initialMetadata: HPACKHeaders {
    get { box?.choices.initialMetadata ?? HPACKHeaders() }
    set {
      if newValue.isEmpty, box?.choices.initialMetadata == nil { return }
      choose { $0.initialMetadata = newValue.isEmpty ? nil : newValue }
    }
  }

  /// Waits for a connection until the deadline, instead of failing at once because the last attempt to connect failed.
  public var waitForReady: Bool {
    get { box?.choices.waitForReady ?? false }
    set { choose { $0.waitForReady = newValue } }
  }

  /// The `:authority` to send instead of the channel's.
  public var serverAuthority: String? {
    get { box?.choices.serverAuthority }
    set { choose { $0.serverAuthority = newValue } }
  }

  /// A token sent as `authorization: Bearer`, unless `authTokenProvider` is set.
  public var oauth2AccessToken: String? {
    get { box?.choices.oauth2AccessToken }
    set { choose { $0.oauth2AccessToken = newValue } }
  }

  /// Provides a token before the call is sent, while the deadline runs. Retries use the same token.
  public var authTokenProvider: (any AuthTokenProvider)? {
    get { box?.choices.authTokenProvider }
    set { choose { $0.authTokenProvider = newValue } }
  }

  /// The format of messages. `nil`: the method's own.
  public var payloadFormat: PayloadChoice? {
    get { box?.choices.payloadFormat }
    set { choose { $0.payloadFormat = newValue } }
  }

  /// Whether a call with a `ResponseHandler` delivers only as many messages as `receiveNextMessages` requests.
  public var flowControlEnabled: Bool {
    get { box?.choices.flowControlEnabled ?? false }
    set { choose { $0.flowControlEnabled = newValue } }
  }

  /// The logger of the call's interceptors; silent by default. `logContext` is added to each entry.
  public var logger: Logger {
    get { (box?.choices.logger ?? .quiet).adding(self.logContext) }
    set { choose { $0.logger = newValue } }
  }
}
