import SwitchboardCall

/// A token and its lifetime.
public struct AccessToken: Sendable, Hashable {
  /// The credentials that follow the scheme.
  public var value: String
  /// How long it is valid after it was obtained. `nil` means until a server rejects it. Calls with a token that has no time
  /// left fail with `UNAUTHENTICATED`.
  public var lifetime: Duration?

  /// A token that is valid until a server rejects it, or for its lifetime.
  public init(_ value: String, lifetime: Duration? = nil) {
    self.value = value
    self.lifetime = lifetime
  }
}

/// Obtains access tokens, keeps the current one, and obtains another when it expires or is rejected. Concurrent calls
/// share one request for a token, which belongs to none of them: it inherits neither the deadline nor the cancellation of
/// the call that needed it first.
///
/// If a server rejects one token after the other on their first use, another would not help either. The last one then
/// stays for a while, a second at first and up to two minutes, in which calls fail with the server's answer.
///
/// ```swift
/// let tokens = AccessTokens { AccessToken(try await fetchToken(), lifetime: .seconds(3600)) }
/// var options = ChannelOptions()
/// options.interceptorFactories = [AccessTokenInterceptors(tokens)]
/// ```
public final class AccessTokens: Sendable {
  private struct State: Sendable {
    var current: AccessToken?
    var expiry: Duration?
    var fetch: Task<AccessToken, any Error>?
    /// When the current token was obtained, until a server accepts or rejects it.
    var untriedSince: Duration?
    var pause = RefusalPause()
  }

  private let state = Locked(State())
  private let obtain: @Sendable () async throws -> AccessToken
  private let margin: Duration
  private let time: MonotonicTime

  /// Calls `obtain` when no token is valid for at least `margin`. `now` is for tests.
  public init(
    margin: Duration = .seconds(30),
    now: (@Sendable () -> Duration)? = nil,
    obtain: @escaping @Sendable () async throws -> AccessToken
  ) {
    self.obtain = obtain
    self.margin = margin
    time = MonotonicTime(now)
  }

  /// A valid token, obtained if necessary. A cancelled caller stops waiting; the token is still obtained for the
  /// others.
  public func token() async throws -> AccessToken {
    let now = time.now()
    let (current, fetch): (AccessToken?, Task<AccessToken, any Error>?) = state.withLock { state in
      if let current = state.current, state.expiry.map({ $0 - margin > now }) ?? true {
        return (current, nil)
      }
      state.current = nil
      if let fetch = state.fetch { return (nil, fetch) }
      // Detached from the call that comes first: the others wait for the token too.
      let fetch = Task.detached { try await self.fetch() }
      state.fetch = fetch
      return (nil, fetch)
    }
    if let current { return current }
    guard let fetch else { throw CancellationError() }
    let waiter = FetchWaiter()
    return try await waiter.value(of: fetch)
  }

  private func fetch() async throws -> AccessToken {
    do {
      let token = try await obtain()
      if let lifetime = token.lifetime, lifetime <= .zero { throw GRPCStatus.expiredToken(lifetime) }
      let now = time.now()
      state.withLock { state in
        state.current = token
        state.expiry = token.lifetime.map { now + $0 }
        state.untriedSince = now
        state.fetch = nil
      }
      return token
    } catch {
      state.withLock { $0.fetch = nil }
      throw error
    }
  }

  /// Reports that a server rejected this token. The next call obtains another, unless that has already happened. Returns
  /// `false` if the token stays, because others were rejected just as soon.
  @discardableResult
  public func refuse(_ token: AccessToken) -> Bool {
    let now = time.now()
    return state.withLock { state in
      guard state.current == token else { return true }
      if let since = state.untriedSince.take() { state.pause.newTokenWasRefused(since: since, at: now) }
      guard state.pause.isOver(at: now) else { return false }
      state.current = nil
      return true
    }
  }

  /// A server has accepted this token.
  func accept(_ token: AccessToken) {
    state.withLock { state in
      guard state.untriedSince != nil, state.current == token else { return }
      state.untriedSince = nil
      state.pause = RefusalPause()
    }
  }
}

/// The time in which a refused token is not replaced, because its predecessors were refused on their first use too.
private struct RefusalPause: Sendable {
  private static let longest = Duration.seconds(120)

  /// How many tokens in a row were refused on their first use.
  private var count = 0
  private var end: Duration?

  /// The first such token is replaced at once: it may have been revoked while it was on its way.
  mutating func newTokenWasRefused(since obtained: Duration, at now: Duration) {
    // After a long time without any use, it is no longer new.
    guard now - obtained < Self.longest else {
      self = RefusalPause()
      return
    }
    count += 1
    if count > 1 { end = now + min(.seconds(1 << min(count - 2, 7)), Self.longest) }
  }

  func isOver(at now: Duration) -> Bool { end.map { now >= $0 } ?? true }
}

extension GRPCStatus {
  fileprivate static func expiredToken(_ lifetime: Duration) -> GRPCStatus {
    GRPCStatus(
      code: .unauthenticated,
      message:
        "the access token was obtained with a lifetime of \(lifetime.readable), so it has expired: "
        + "for one that stays valid, leave the lifetime out"
    )
  }
}

/// A caller that waits for a token.
private final class FetchWaiter: Sendable {
  private enum State {
    case idle
    case waiting(CheckedContinuation<AccessToken, any Error>)
    case over
  }

  private let state = Locked(State.idle)

  func value(of fetch: Task<AccessToken, any Error>) async throws -> AccessToken {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if case .over = state { return true }
          state = .waiting(continuation)
          return false
        }
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        Task { self.resume(await fetch.result) }
      }
    } onCancel: {
      resume(.failure(CancellationError()))
    }
  }

  private func resume(_ result: Result<AccessToken, any Error>) {
    let waiting: CheckedContinuation<AccessToken, any Error>? = state.withLock { state in
      defer { state = .over }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume(with: result)
  }
}
