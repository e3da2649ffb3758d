// unsafe: copy on write: a box that others hold is never written

/// The options of a call, and of the channel that carries it.
///
/// Options that are not set have their defaults. A value takes one pointer, which is `nil` while nothing is set. A
/// client has options for all its calls; options passed to a call override them field by field.
///
/// Options of the channel select one of the channels of a pool (see `ChannelPool`). On a channel that was created with its
/// own `ChannelOptions`, a call with most of them fails with `INVALID_ARGUMENT`: it would not have what it asks for.
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

  /// Creates options with none set.
  public init() {}

  /// Creates options with the most common ones. Those that are omitted are not set.
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

  /// Creates options that `choose` fills in.
  public static func with(_ choose: (inout CallOptions) throws -> Void) rethrows -> CallOptions {
    var options = CallOptions()
    try choose(&options)
    return options
  }

  /// These options, overridden field by field by a call's own. Of metadata, a field is what has a name of its own:
  /// one that a client has for all its calls, such as a token, must not be lost by chance.
  @inlinable
  package func overridden(by own: CallOptions?) -> CallOptions {
    guard let own else { return self }
    return merged(with: own)
  }

  @usableFromInline
  func merged(with own: CallOptions) -> CallOptions {
    guard let box, box !== own.box else { return own }
    guard let choices = own.box?.choices else { return self }
    var merged = CallOptions()
    merged.box = Box(choices.overriding(box.choices))
    return merged
  }

  /// Copies shared choices before changing them.
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

    init(_ choices: Choices) { self.choices = choices }
  }

  /// The choices; `nil` means not chosen.
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
    var interceptorFactories: [any ClientInterceptorFactory]?
    var safety: RequestOptions.Safety?
    /// Whether a client has the safety for all its calls, and this one has not chosen it.
    var safetyIsOfClient = false

    // Options of the channel that calls use too.
    var compression: MessageCompression?
    var responseSizeLimit: Int?
    var enableRetry: Bool?
    var serviceConfig: ServiceConfig?
    /// The other options of the channel; shared by all options derived from each other without changing them.
    var channel: ChannelChoices?

    func overriding(_ defaults: Choices) -> Choices {
      var merged = self
      merged.timeout = timeout ?? defaults.timeout
      merged.initialMetadata =
        initialMetadata?.overriding(defaults.initialMetadata) ?? defaults.initialMetadata
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

// Options for interceptors.
extension CallOptions {
  /// Factories whose interceptors precede all others, in this order. A call's factories replace the client's; `nil`
  /// keeps those.
  public var interceptorFactories: [any ClientInterceptorFactory]? {
    get { box?.choices.interceptorFactories }
    set { choose { $0.interceptorFactories = newValue } }
  }

  /// Whether the call may be repeated or cached.
  public var safety: RequestOptions.Safety {
    get { box?.choices.safety ?? .default }
    set {
      choose { choices in
        choices.safety = newValue
        choices.safetyIsOfClient = false
      }
    }
  }

  /// Whether responses may be cached because a client's `defaultCallOptions` say so for all its calls.
  package var isCacheableByDefault: Bool {
    box.map { $0.choices.safetyIsOfClient && $0.choices.safety == .cacheableRequest } ?? false
  }

  /// Notes whether a call has its safety from its client: only what caches asks for that.
  mutating func noteSafety(chosenBy call: CallOptions?) {
    guard let box, box.choices.safety == .cacheableRequest, call?.box?.choices.safety == nil else { return }
    choose { $0.safetyIsOfClient = true }
  }
}
