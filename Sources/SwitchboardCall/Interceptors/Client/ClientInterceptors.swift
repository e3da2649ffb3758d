/// The factory that a client makes the interceptors of its calls with, if it has one.
///
/// Calls are made from any thread, and the factory need not be ready for that: it is asked under a lock.
@frozen
public struct ClientInterceptors<Factory>: Sendable {
  @usableFromInline let box: FactoryBox<Factory>?

  /// Takes the factory over; `nil` is a factory of nothing.
  @inlinable
  public init(_ factory: sending Factory?) {
    if let factory { box = FactoryBox(factory) } else { box = nil }
  }

  /// The interceptors of one call: those of its options, then those that the client's own factory makes for the
  /// method, then those of the channel. `nil` where there are none.
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

/// The interceptors of one call, first outbound first.
@frozen
public struct ClientInterceptorChain<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because interceptors are made for one call, which uses them on its loop alone.
  @usableFromInline let interceptors: [ClientInterceptor<Request, Response>]

  /// Takes over what a factory made for one call.
  @inlinable
  public init(_ interceptors: [ClientInterceptor<Request, Response>]) {
    self.interceptors = interceptors
  }
}

extension ClientInterceptorChain {
  /// A method's own interceptors between those of other scopes; `nil` where there are none.
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
  /// A call's own interceptors, between those that its options make and those of the channel; `nil` where there are
  /// none.
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
  // Sendable holds because the factory was sent here, and is only ever used under the lock.
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
