// unsafe: a key holds a request, which is Sendable, as a type that does not say so

public import SwitchboardCall
import SwitchboardText

/// Caches the responses of unary calls that allow it, and reuses them for equal requests for a while.
///
/// A call allows it with `CallOptions.safety`, `cacheableRequest`; its request must be `Hashable`, as generated
/// messages are. Two calls are equal if they have the same host, authority and path, equal requests, and equal values
/// of the metadata that responses vary by. Only successful responses are cached.
///
/// A token in the call's options counts as the `authorization` that will be sent. The token of an `AuthTokenProvider`
/// is not known here, so if responses vary by `authorization`, calls with a provider are not cached. Metadata that
/// interceptors set counts if they come between the caller and this one. Clients that a server identifies by
/// certificate need separate caches.
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
    let varying: [[ExactText]]
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
  private let variesBy: [String]
  private let time: MonotonicTime

  /// Caches up to `capacity` responses, each for `lifetime`, and evicts the least recently used. With zero for one of
  /// them, it caches nothing. `now` is for tests.
  public init(
    capacity: Int = 1000,
    lifetime: Duration = .seconds(60),
    variesBy: [String] = ["authorization"],
    now: (@Sendable () -> Duration)? = nil
  ) throws(GRPCStatus) {
    try Limits(capacity: capacity, lifetime: lifetime).checkRules()
    entries = Locked(RecentEntries(capacity: capacity))
    self.lifetime = lifetime
    self.variesBy = variesBy
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
    guard options.safety == .cacheableRequest, let message = request.message as? any Hashable,
      let varying = varying(request.metadata, options)
    else { return nil }
    return Key(
      host: ExactText(context.host),
      authority: options.serverAuthority.map(ExactText.init),
      path: ExactText(context.path),
      request: AnyHashable(message),
      varying: varying.map { $0.map(ExactText.init) }
    )
  }

  /// The values of the metadata that responses vary by, as they will be sent. `nil` if they are not known yet.
  private func varying(_ metadata: HPACKHeaders, _ options: CallOptions) -> [[String]]? {
    var all: [[String]] = []
    for name in variesBy {
      var values = metadata[name]
      if name.lowercased() == "authorization" {
        guard options.authTokenProvider == nil else { return nil }
        if let token = options.oauth2AccessToken { values = ["Bearer \(token)"] }
      }
      all.append(values)
    }
    return all
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
      if let known = known as? UnaryResponse<Response> { return known }
      let response = try await next(request)
      let expiry = cache.time.now() + cache.lifetime
      cache.entries.withLock { $0.insert(response, for: key, until: expiry) }
      return response
    }
  }
}
