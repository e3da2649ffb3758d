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

  /// The interceptors of one call; `nil` where there are none.
  @inlinable
  public func make<Request, Response>(
    _ make: (Factory) -> [ClientInterceptor<Request, Response>]
  ) -> ClientInterceptorChain<Request, Response>? {
    guard let box else { return nil }
    let interceptors = box.withFactory(make)
    return interceptors.isEmpty ? nil : ClientInterceptorChain(interceptors)
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
