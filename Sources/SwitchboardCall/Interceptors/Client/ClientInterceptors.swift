/// A client's optional factory of interceptors.
///
/// Calls are made from any thread, so the factory is called under a lock and need not be thread-safe.
@frozen
public struct ClientInterceptors<Factory>: Sendable {
  @usableFromInline let box: FactoryBox<Factory>?

  /// Takes over the factory; with `nil`, the client makes no interceptors.
  @inlinable
  public init(_ factory: sending Factory?) {
    if let factory { box = FactoryBox(factory) } else { box = nil }
  }

  /// The interceptors of one call: those of its options, then those of the client's factory, then those of the channel.
  /// `nil` if there are none.
  @inlinable
  package func make<Request, Response>(
    for method: MethodDescriptor,
    options: [any InterceptorFactory],
    channel: [any InterceptorFactory],
    _ make: (Factory) -> [ClientInterceptor<Request, Response>]
  ) -> ClientInterceptorChain<Request, Response>? {
    let own = box?.withFactory(make) ?? []
    if options.isEmpty, channel.isEmpty { return own.isEmpty ? nil : ClientInterceptorChain(own) }
    return ClientInterceptorChain(own, for: method, options: options, channel: channel)
  }
}

/// The interceptors of one call, in the order in which requests pass them.
@frozen
public struct ClientInterceptorChain<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because interceptors are made for one call, which uses them only on its loop.
  @usableFromInline let interceptors: [ClientInterceptor<Request, Response>]

  /// Takes over the interceptors of one call.
  @inlinable
  public init(_ interceptors: [ClientInterceptor<Request, Response>]) {
    self.interceptors = interceptors
  }
}

extension ClientInterceptorChain {
  /// The method's interceptors between those of other scopes; `nil` if there are none.
  @usableFromInline
  init?(
    _ own: [ClientInterceptor<Request, Response>],
    for method: MethodDescriptor,
    options: [any InterceptorFactory],
    channel: [any InterceptorFactory]
  ) {
    let all =
      options.makeClientInterceptors(for: method) + own + channel.makeClientInterceptors(for: method)
    if all.isEmpty { return nil }
    interceptors = all
  }
}

extension Channel {
  /// The call's interceptors between those of its options and those of the channel; `nil` if there are none.
  @inlinable
  package func scoped<Request: Sendable, Response: Sendable>(
    _ own: ClientInterceptorChain<Request, Response>?,
    for method: MethodDescriptor,
    _ factories: [any InterceptorFactory]?
  ) -> ClientInterceptorChain<Request, Response>? {
    if interceptorFactories.isEmpty, factories?.isEmpty ?? true { return own }
    return ClientInterceptorChain(
      own?.interceptors ?? [],
      for: method,
      options: factories ?? [],
      channel: interceptorFactories
    )
  }
}

@usableFromInline
final class FactoryBox<Factory>: @unchecked Sendable {
  // Sendable holds because the factory was sent here and is used only under the lock.
  @usableFromInline let factory: Factory
  @usableFromInline let lock = Locked(())

  @inlinable
  init(_ factory: sending Factory) {
    self.factory = factory
  }

  @inlinable
  func withFactory<Result>(_ body: (Factory) -> Result) -> Result {
    lock.withLock { _ in body(factory) }
  }
}
