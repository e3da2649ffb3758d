// unsafe: a key holds a request, which is Sendable, as a type that does not say so

public import SwitchboardCall
import SwitchboardText

/// Caches the responses of unary calls that allow it, and reuses them for equal requests for a while.
///
/// A call allows it with `CallOptions.safety`, `cacheableRequest`; its request must be `Hashable`, as generated
/// messages are. Two calls are equal if they have the same host, authority and path, equal requests, and equal
/// metadata, or equal values of the fields that you name. Only successful responses are cached.
///
/// The metadata is what the call has when it reaches the cache: its own, what it inherits, and what interceptors set that come
/// between the caller and the cache. What interceptors set after it does not count. The fields of a trace, `traceparent`,
/// `tracestate` and `grpc-trace-bin`, never count by themselves. If each call has a field of its own, such as a number, name the
/// fields that responses vary by: otherwise no call is equal to another. If none of a thousand calls is answered from the cache, and
/// their metadata are what keeps equal requests apart, the log of the channel has a warning with the names.
///
/// A token in the call's options counts as the `authorization` that will be sent, and `AccessTokenInterceptors` that follow the
/// cache count by their `AccessTokens`. The token of an `AuthTokenProvider` is not known here, so calls with a provider are not
/// cached, unless you name fields without `authorization`. Clients that a server identifies by certificate need separate caches.
///
/// A client whose `defaultCallOptions` have this safety has it for all its methods. If one is answered that does not say
/// `idempotency_level = NO_SIDE_EFFECTS`, the log of the channel has a warning: choose it in the options of calls.
///
/// ```swift
/// var options = ChannelOptions()
/// options.interceptorFactories = [try ResponseCache(lifetime: .seconds(10))]
/// let channel = try Channel(target: "shop.example:443", options: options)
/// let client = Hello_GreeterClient(channel: channel)
/// let reply = try await client.get(request, callOptions: .with { $0.safety = .cacheableRequest })
/// ```
public final class ResponseCache: ClientInterceptorFactory {
  struct Key: Hashable, @unchecked Sendable {
    // Sendable because the request is: messages of calls must be.
    let host: ExactText
    let authority: ExactText?
    let path: ExactText
    let request: AnyHashable
    let metadata: [[UInt8]: [[UInt8]]]
    let tokens: [TokenSource]

    /// Whether two calls are equal but for their metadata and tokens.
    func differsByCallerOnly(from other: Key) -> Bool {
      other != self && other.host == host && other.authority == authority && other.path == path
        && other.request == request
    }

    func fieldsThatDiffer(from other: Key) -> [[UInt8]] {
      Set(metadata.keys).union(other.metadata.keys).filter { metadata[$0] != other.metadata[$0] }
    }
  }

  /// Whose tokens a call gets below the cache. It is kept, so that nothing else can be at its address.
  struct TokenSource: Hashable, Sendable {
    let tokens: AccessTokens

    static func == (left: TokenSource, right: TokenSource) -> Bool { left.tokens === right.tokens }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(tokens)) }
  }

  struct Limits: RuledOptions {
    var capacity: Int
    var lifetime: Duration

    static let rules: [OptionRule<Limits>] = [
      OptionRule(\.capacity, "capacity", .atLeast(0)),
      OptionRule(\.lifetime, "lifetime", .atLeast(.zero)),
    ]
  }

  private let entries: Locked<RecentEntries<Key>>
  private let lifetime: Duration
  /// The names of the fields that count. `nil` if all do but those of a trace.
  private let names: Set<[UInt8]>?
  private let time: MonotonicTime
  /// The paths of methods of which the log says that they are hardly meant to be cached.
  private let doubted = Locked<Set<ExactText>>([])
  private let use = Locked(Use())

  /// What has come of the cache so far.
  private struct Use: Sendable {
    /// How many calls were not to be cached; `nil` once one was, or the log has said so.
    var passed: Int? = 0
    /// How many calls that may be cached had no answer here; `nil` once one had, or the log has said why.
    var missed: Int? = 0
  }

  private static let authorization = Array("authorization".utf8)
  private static let tracing = ["traceparent", "tracestate", "grpc-trace-bin"].map { Array($0.utf8) }
  private static let mostDoubts = 64
  /// After so many calls of which none was one to be cached, the log says so.
  private static let callsBeforeDoubt = 20
  /// After so many calls of which none was answered from the cache, the log says what keeps equal requests apart.
  private static let missesBeforeDoubt = 1000

  /// Caches up to `capacity` responses, each for `lifetime`, and evicts the least recently used. With zero for one of
  /// them, it caches nothing. `variesBy` names the fields of the metadata that count; without it, all do. `now` is for tests.
  public init(
    capacity: Int = 1000,
    lifetime: Duration = .seconds(60),
    variesBy: [String]? = nil,
    now: (@Sendable () -> Duration)? = nil
  ) throws(GRPCStatus) {
    try Limits(capacity: capacity, lifetime: lifetime).checkRules()
    entries = Locked(RecentEntries(capacity: capacity))
    self.lifetime = lifetime
    names = variesBy.map { Set($0.map { Array($0.lowercased().utf8) }) }
    time = MonotonicTime(now)
  }

  /// The number of cached responses.
  public var count: Int { entries.withLock { $0.count } }

  /// Removes all cached responses.
  public func removeAll() { entries.withLock { $0.removeAll() } }

  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    guard method.type == .unary else { return [] }
    return [Caching(self)]
  }

  private func key<Request: Sendable, Response: Sendable>(
    _ request: UnaryRequest<Request>,
    _ context: ClientInterceptorContext<Request, Response>
  ) -> Key? {
    let options = context.options
    guard options.safety == .cacheableRequest else {
      passed(context, "no call has the safety .cacheableRequest in its options")
      return nil
    }
    guard let message = request.message as? any Hashable else {
      passed(context, "requests are not Hashable")
      return nil
    }
    var metadata = counted(request.metadata)
    var tokens: [TokenSource] = []
    if counts(Self.authorization) {
      guard options.authTokenProvider == nil else {
        passed(context, "calls have an authTokenProvider, whose token is not known here; see variesBy")
        return nil
      }
      if let token = options.oauth2AccessToken {
        metadata[Self.authorization] = [Array("Bearer \(token)".utf8)]
      }
      tokens = context.interceptorsBelow.compactMap {
        ($0 as? any TokenAdding).map { TokenSource(tokens: $0.tokens) }
      }
    }
    return Key(
      host: ExactText(context.host),
      authority: options.serverAuthority.map(ExactText.init),
      path: ExactText(context.path),
      request: AnyHashable(message),
      metadata: metadata,
      tokens: tokens
    )
  }

  /// Counts a call that may be cached, and says once of a cache that answers none which metadata keeps equal requests apart. Requests
  /// that differ may be meant.
  private func looked<Request: Sendable, Response: Sendable>(
    for key: Key,
    isKnown: Bool,
    _ context: ClientInterceptorContext<Request, Response>
  ) {
    let isDue = use.withLock { use in
      use.passed = nil
      use.missed = isKnown ? nil : use.missed.map { $0 + 1 }
      guard use.missed == Self.missesBeforeDoubt else { return false }
      use.missed = nil
      return true
    }
    guard isDue else { return }
    let twins = entries.withLock { $0.keys.filter { key.differsByCallerOnly(from: $0) } }
    // Users who each call once are no mistake.
    let names = Set(twins.flatMap { key.fieldsThatDiffer(from: $0) }).subtracting([Self.authorization])
    guard !names.isEmpty else { return }
    let list = names.map { String(decoding: $0, as: UTF8.self).excerpt }.sorted().prefix(8).joined(
      separator: ", "
    )
    context.channelLogger.log(
      .warning,
      "a ResponseCache has answered no call so far: equal requests are kept apart by their metadata, which each call has of its own; "
        + "name the fields that responses vary by in variesBy",
      ["calls": "\(Self.missesBeforeDoubt)", "fields": list, "last method": context.path]
    )
  }

  private func counts(_ name: [UInt8]) -> Bool { names?.contains(name) ?? !Self.tracing.contains(name) }

  /// The metadata that responses vary by, as bytes: what is no text must not become the same.
  private func counted(_ metadata: HPACKHeaders) -> [[UInt8]: [[UInt8]]] {
    var counted: [[UInt8]: [[UInt8]]] = [:]
    metadata.forEachField { name, value in
      let name = Array(name)
      if counts(name) { counted[name, default: []].append(Array(value)) }
    }
    return counted
  }

  /// Says once for each method that it is answered from the cache, which nobody may have meant.
  private func doubt<Request: Sendable, Response: Sendable>(
    _ context: ClientInterceptorContext<Request, Response>
  ) {
    guard context.method.idempotency != .noSideEffects, context.options.isCacheableByDefault else { return }
    let path = ExactText(context.path)
    let isNews = doubted.withLock { $0.count < Self.mostDoubts && $0.insert(path).inserted }
    guard isNews else { return }
    context.channelLogger.log(
      .warning,
      "a call is answered by a ResponseCache, because its client's defaultCallOptions say that all calls may be, and its method "
        + "does not say that it has no side effects (idempotency_level = NO_SIDE_EFFECTS): choose the safety in the options of the "
        + "calls that may be cached",
      ["method": context.path]
    )
  }

  /// Says of a cache that all calls pass that nothing is cached, and why.
  private func passed<Request: Sendable, Response: Sendable>(
    _ context: ClientInterceptorContext<Request, Response>,
    _ reason: String
  ) {
    let isNews = use.withLock { use in
      use.passed = use.passed.map { $0 + 1 }
      guard use.passed == Self.callsBeforeDoubt else { return false }
      use.passed = nil
      return true
    }
    guard isNews else { return }
    context.channelLogger.log(
      .warning,
      "a ResponseCache has cached nothing so far: \(reason)",
      ["calls": "\(Self.callsBeforeDoubt)", "last method": context.path]
    )
  }

  private final class Caching<Request: Sendable, Response: Sendable>: ClientCallInterceptor<Request, Response>
  {
    private let cache: ResponseCache

    init(_ cache: ResponseCache) {
      self.cache = cache
      super.init()
    }

    override func intercept(
      _ request: UnaryRequest<Request>,
      context: Context,
      next: Next
    ) async throws -> UnaryResponse<Response> {
      guard let key = cache.key(request, context) else { return try await next(request) }
      let now = cache.time.now()
      let known = cache.entries.withLock { $0.value(for: key, at: now) }
      cache.looked(for: key, isKnown: known != nil, context)
      if let known = known as? UnaryResponse<Response> {
        cache.doubt(context)
        return known
      }
      let response = try await next(request)
      let expiry = cache.time.now() + cache.lifetime
      cache.entries.withLock { $0.insert(response, for: key, until: expiry) }
      return response
    }
  }
}
