// Options of one call, on any channel.
extension CallOptions {
  /// A value of `timeout` that removes the timeout of the client's options.
  public static let noTimeout = Duration(secondsComponent: .max, attosecondsComponent: 0)

  /// How long the call may take; sent to the server and enforced on both sides. `nil` and `noTimeout` mean no limit.
  public var timeout: Duration? {
    get { box?.choices.timeout.flatMap { $0 == Self.noTimeout ? nil : $0 } }
    set { choose { $0.timeout = newValue } }
  }

  /// The metadata sent at the start of the call. Unless it is empty, it replaces that of the client's options.
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

  /// Whether the call waits for a connection until its deadline, even if the last attempt to connect failed.
  public var waitForReady: Bool {
    get { box?.choices.waitForReady ?? false }
    set { choose { $0.waitForReady = newValue } }
  }

  /// The same, if it was chosen: the channel decides otherwise.
  package var chosenWaitForReady: Bool? { box?.choices.waitForReady }

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

  /// Provides a token for each attempt of the call; the wait for it counts towards the timeout.
  public var authTokenProvider: (any AuthTokenProvider)? {
    get { box?.choices.authTokenProvider }
    set { choose { $0.authTokenProvider = newValue } }
  }

  /// The format of messages. `nil` means the method's own.
  public var payloadFormat: PayloadChoice? {
    get { box?.choices.payloadFormat }
    set { choose { $0.payloadFormat = newValue } }
  }

  /// Whether a call with a `ResponseHandler` delivers only as many messages as `receiveNextMessages` requests. Other calls
  /// always deliver as many as are read.
  public var flowControlEnabled: Bool {
    get { box?.choices.flowControlEnabled ?? false }
    set { choose { $0.flowControlEnabled = newValue } }
  }

  /// The logger of the call's interceptors; silent by default. `logContext` is added to each entry.
  public var logger: Logger {
    get { (box?.choices.logger ?? .quiet).adding(self.logContext) }
    set { choose { $0.logger = newValue } }
  }

  /// The logger, if there is one.
  var chosenLogger: Logger? { box?.choices.logger?.adding(self.logContext) }
}

extension CallOptions {
  /// The options of calls that are chosen here and not in `other`.
  package func namesOfChoices(lackingIn other: CallOptions) -> [String] {
    guard let own = box?.choices else { return [] }
    let others = other.box?.choices ?? Choices()
    let chosen: [(name: String, isLacking: Bool)] = [
      ("timeout", own.timeout != nil && others.timeout == nil),
      ("initialMetadata", own.initialMetadata != nil && others.initialMetadata == nil),
      ("waitForReady", own.waitForReady != nil && others.waitForReady == nil),
      ("serverAuthority", own.serverAuthority != nil && others.serverAuthority == nil),
      ("oauth2AccessToken", own.oauth2AccessToken != nil && others.oauth2AccessToken == nil),
      ("authTokenProvider", own.authTokenProvider != nil && others.authTokenProvider == nil),
      ("payloadFormat", own.payloadFormat != nil && others.payloadFormat == nil),
    ]
    return chosen.filter(\.isLacking).map(\.name)
  }
}

// For interceptors that change the options of a call which has been sent.
extension CallOptions {
  /// The options of calls that are not the same in `other`, apart from those that only interceptors read, and from those whose
  /// values cannot be compared.
  func namesOfChanges(from other: CallOptions) -> [String] {
    guard box !== other.box else { return [] }
    let compared: [(name: String, isSame: Bool)] = [
      ("timeout", timeout == other.timeout),
      ("waitForReady", waitForReady == other.waitForReady),
      ("serverAuthority", serverAuthority == other.serverAuthority),
      ("oauth2AccessToken", oauth2AccessToken == other.oauth2AccessToken),
      ("authTokenProvider", (authTokenProvider == nil) == (other.authTokenProvider == nil)),
      ("payloadFormat", payloadFormat?.formats === other.payloadFormat?.formats),
      ("compression", compression == other.compression),
      ("responseSizeLimit", responseSizeLimit == other.responseSizeLimit),
      ("enableRetry", enableRetry == other.enableRetry),
      ("serviceConfig", serviceConfig == other.serviceConfig),
    ]
    return compared.filter { !$0.isSame }.map(\.name)
  }

  /// Takes over what only interceptors read.
  mutating func takeNotes(of other: CallOptions) {
    guard box !== other.box else { return }
    choose { choices in
      choices.logger = other.box?.choices.logger
      choices.safety = other.box?.choices.safety
      choices.safetyIsOfClient = other.box?.choices.safetyIsOfClient ?? false
    }
    if self.logContext != other.logContext { self.logContext = other.logContext }
  }
}
