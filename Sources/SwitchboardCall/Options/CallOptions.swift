/// Every choice that a caller may make: for one call, and for the channel that carries it.
///
/// What is not chosen is as it would be without options. A value costs one pointer, which is `nil` while nothing
/// is chosen. A client has options for all its calls; those of one call override them field by field.
///
/// Options that concern the channel choose among the channels of a pool (see `ChannelPool`). Where the user gives
/// the client a channel, that channel was made before and they do not apply; each says so.
///
/// ```swift
/// let options = CallOptions.with {
///   $0.timeout = .seconds(5)
///   $0.keepaliveInterval = .seconds(30)
/// }
/// ```
@dynamicMemberLookup
public struct CallOptions: Sendable {
  private(set) var box: Box?

  /// Nothing is chosen.
  public init() {}

  /// The choices that are made most, in one step. What is left out is not chosen.
  public init(
    timeout: Duration? = nil,
    initialMetadata: HPACKHeaders = HPACKHeaders(),
    waitForReady: Bool = false,
    compression: MessageCompression = .none,
    responseSizeLimit: Int? = nil,
    serverAuthority: String? = nil
  ) {
    var choices = Choices()
    choices.timeout = timeout
    if !initialMetadata.isEmpty { choices.initialMetadata = initialMetadata }
    if waitForReady { choices.waitForReady = true }
    if compression != .none { choices.compression = compression }
    choices.responseSizeLimit = responseSizeLimit
    choices.serverAuthority = serverAuthority
    box = Box(choices)
  }

  /// Options that `choose` fills in.
  public static func with(_ choose: (inout CallOptions) throws -> Void) rethrows -> CallOptions {
    var options = CallOptions()
    try choose(&options)
    return options
  }

  /// The options of a call that has these for what its own, if it has any, leave open.
  @inlinable
  public func overridden(by own: CallOptions?) -> CallOptions {
    guard let own else { return self }
    return own.overriding(self)
  }

  /// These options, and for what they leave open, `defaults`.
  public func overriding(_ defaults: CallOptions) -> CallOptions {
    guard let other = defaults.box, other !== box else { return self }
    guard let box else { return defaults }
    var merged = CallOptions()
    merged.box = Box(box.choices.overriding(other.choices))
    return merged
  }

  /// Copies what others hold before it is changed.
  mutating func choose(_ change: (inout Choices) -> Void) {
    let isOwn = isKnownUniquelyReferenced(&box)
    let own = isOwn ? box : nil
    let target = own ?? Box(box?.choices ?? Choices())
    change(&target.choices)
    box = target
  }
}

extension CallOptions {
  final class Box: @unchecked Sendable {
    // Sendable holds because a box is written only while one value alone refers to it.
    fileprivate(set) var choices: Choices

    init(_ choices: Choices) {
      self.choices = choices
    }
  }

  /// What was chosen; `nil` was not.
  struct Choices: Sendable {
    var timeout: Duration?
    var initialMetadata: HPACKHeaders?
    var waitForReady: Bool?
    var serverAuthority: String?
    var oauth2AccessToken: String?
    var authTokenProvider: (any AuthTokenProvider)?
    var flowControlEnabled: Bool?
    var payloadFormat: PayloadChoice?
    var logger: Logger?
    var interceptorFactories: [any InterceptorFactory]?
    var safety: RequestOptions.Safety?

    // Of the channel's, those that calls use too.
    var compression: MessageCompression?
    var responseSizeLimit: Int?
    var enableRetry: Bool?
    var serviceConfig: ServiceConfig?
    /// The rest of the channel's; shared by all options that were made from each other without changing them.
    var channel: ChannelChoices?

    func overriding(_ defaults: Choices) -> Choices {
      var merged = self
      merged.timeout = timeout ?? defaults.timeout
      merged.initialMetadata = initialMetadata ?? defaults.initialMetadata
      merged.waitForReady = waitForReady ?? defaults.waitForReady
      merged.serverAuthority = serverAuthority ?? defaults.serverAuthority
      merged.oauth2AccessToken = oauth2AccessToken ?? defaults.oauth2AccessToken
      merged.authTokenProvider = authTokenProvider ?? defaults.authTokenProvider
      merged.payloadFormat = payloadFormat ?? defaults.payloadFormat
      merged.flowControlEnabled = flowControlEnabled ?? defaults.flowControlEnabled
      merged.logger = logger ?? defaults.logger
      merged.interceptorFactories = interceptorFactories ?? defaults.interceptorFactories
      merged.safety = safety ?? defaults.safety
      merged.compression = compression ?? defaults.compression
      merged.responseSizeLimit = responseSizeLimit ?? defaults.responseSizeLimit
      merged.enableRetry = enableRetry ?? defaults.enableRetry
      merged.serviceConfig = serviceConfig ?? defaults.serviceConfig
      if let other = defaults.channel { merged.channel = channel?.overriding(other) ?? other }
      return merged
    }
  }
}

// What interceptors make of a call, and go by.
extension CallOptions {
  /// Makes interceptors for the call, in this order, before all others. `nil`: those of the client; a call's own take
  /// their place.
  public var interceptorFactories: [any InterceptorFactory]? {
    get { box?.choices.interceptorFactories }
    set { choose { $0.interceptorFactories = newValue } }
  }

  /// Whether the call may be repeated, or answered from a cache.
  public var safety: RequestOptions.Safety {
    get { box?.choices.safety ?? .default }
    set { choose { $0.safety = newValue } }
  }
}
