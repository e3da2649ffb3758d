public import SwitchboardCall

/// Keeps responses of unary calls that say they may be cached, and answers the same request with them for a while.
///
/// A call says so by `CallOptions.safety`, `cacheableRequest`; its request must be `Hashable`, as generated messages
/// are. Two calls are the same if they go to the same host, authority and path with equal requests, and with equal values
/// of the metadata that responses vary by. Only successes are kept.
///
/// A token of the call's options counts as the `authorization` that will be sent. What an `AuthTokenProvider` would give is
/// not known here: where responses vary by it, calls with one are not cached. Of interceptors that set such
/// metadata, those between the caller and this one are heeded. Clients that servers know by their certificates
/// each want a cache of their own.
public final class ResponseCache: InterceptorFactory {
  struct Key: Hashable, @unchecked Sendable {
    // Sendable holds because the request is: it is a call's message, which must be.
    let host: String
    let authority: String?
    let path: String
    let request: AnyHashable
    let varying: [[String]]
  }

  private let entries: Locked<RecentEntries<Key>>
  private let lifetime: Duration
  private let variesBy: [String]
  private let time: MonotonicTime

  /// Keeps up to `capacity` responses, each for `lifetime`; the one that was used longest ago goes first. `now` is for
  /// tests.
  public init(
    capacity: Int = 1000,
    lifetime: Duration = .seconds(60),
    variesBy: [String] = ["authorization"],
    now: (@Sendable () -> Duration)? = nil
  ) {
    entries = Locked(RecentEntries(capacity: capacity))
    self.lifetime = lifetime
    self.variesBy = variesBy
    time = MonotonicTime(now)
  }

  /// How many responses are kept.
  public var count: Int { entries.withLock { $0.count } }

  /// Forgets all of them.
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
      host: context.host,
      authority: options.serverAuthority,
      path: context.path,
      request: AnyHashable(message),
      varying: varying
    )
  }

  /// The values that responses vary by, as they will be sent. `nil` where they are not known yet.
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
