// What concerns one call, whatever channel it is made on.
extension CallOptions {
  /// For a call that is to have no timeout although its client's calls have one.
  public static let noTimeout = Duration(secondsComponent: .max, attosecondsComponent: 0)

  /// How long the call may take; sent to the server and enforced on both sides. `nil`, or `noTimeout`: for ever.
  public var timeout: Duration? {
    get { box?.choices.timeout.flatMap { $0 == Self.noTimeout ? nil : $0 } }
    set { choose { $0.timeout = newValue } }
  }

  /// Metadata that the call starts with. It takes the place of the client's; empty leaves that as it is.
  ///
  /// What HTTP and gRPC write themselves is left out of it (`:path`, `te`, `content-type`, `user-agent`, `grpc-timeout` and the
  /// like), so that metadata that came with one call can be sent on with another. A name or a value that HTTP does not allow
  /// fails the call with `INTERNAL`, before anything is sent.
  public var initialMetadata: HPACKHeaders {
    get { box?.choices.initialMetadata ?? HPACKHeaders() }
    set {
      if newValue.isEmpty, box?.choices.initialMetadata == nil { return }
      choose { $0.initialMetadata = newValue.isEmpty ? nil : newValue }
    }
  }

  /// Waits for a connection, as long as the deadline allows, where a call would otherwise fail at once
  /// because the last attempt to connect failed.
  public var waitForReady: Bool {
    get { box?.choices.waitForReady ?? false }
    set { choose { $0.waitForReady = newValue } }
  }

  /// The `:authority` to send in place of the channel's.
  public var serverAuthority: String? {
    get { box?.choices.serverAuthority }
    set { choose { $0.serverAuthority = newValue } }
  }

  /// A token that is sent as `authorization: Bearer`, unless there is a provider of tokens.
  public var oauth2AccessToken: String? {
    get { box?.choices.oauth2AccessToken }
    set { choose { $0.oauth2AccessToken = newValue } }
  }

  /// Asked for a token before the call is sent; the call's deadline runs meanwhile. The token stays the same when
  /// the call is tried again.
  public var authTokenProvider: (any AuthTokenProvider)? {
    get { box?.choices.authTokenProvider }
    set { choose { $0.authTokenProvider = newValue } }
  }

  /// The format that messages travel in. `nil`: the one that the method is written in.
  public var payloadFormat: PayloadChoice? {
    get { box?.choices.payloadFormat }
    set { choose { $0.payloadFormat = newValue } }
  }

  /// Whether a call with a `ResponseHandler` gives it only as many messages as `receiveNextMessages` asks for.
  public var flowControlEnabled: Bool {
    get { box?.choices.flowControlEnabled ?? false }
    set { choose { $0.flowControlEnabled = newValue } }
  }

  /// Where the call's interceptors log to; quiet by default. `logContext` is added to each entry.
  public var logger: Logger {
    get { (box?.choices.logger ?? .quiet).adding(self.logContext) }
    set { choose { $0.logger = newValue } }
  }
}
