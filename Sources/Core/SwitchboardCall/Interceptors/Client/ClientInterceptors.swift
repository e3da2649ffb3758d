// unsafe: a chain is touched on its call's loop alone, and keeps its interceptors while one runs; its one end
//   resumes the caller

/// A client's optional factory of interceptors.
///
/// Any thread can make calls, so the factory is called under a lock and need not be thread-safe.
@frozen
public struct ClientInterceptors<Factory>: Sendable {
  @usableFromInline let box: FactoryBox<Factory>?

  /// Takes ownership of the factory. With `nil`, the client makes no interceptors.
  @inlinable
  public init(_ factory: sending Factory?) {
    if let factory { box = FactoryBox(factory) } else { box = nil }
  }

  /// The interceptors that the factory makes for one call; `nil` if there are none.
  @inlinable
  package func make<Request, Response>(
    _ make: (Factory) -> [ClientInterceptor<Request, Response>]
  ) -> CallInterceptors<Request, Response>? {
    guard let own = box?.withFactory(make), !own.isEmpty else { return nil }
    return CallInterceptors(own)
  }
}

/// The interceptors of one call, in the order in which requests pass them.
@frozen
@usableFromInline
package struct CallInterceptors<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because interceptors are made for one call, which uses them only on its loop.
  @usableFromInline let interceptors: [ClientInterceptor<Request, Response>]

  /// Takes ownership of the interceptors of one call.
  @inlinable
  package init(_ interceptors: [ClientInterceptor<Request, Response>]) { self.interceptors = interceptors }
}

extension Channel {
  /// All interceptors of a call: those of its options, its own, and the channel's. `nil` if there are none. `call` is what the
  /// call itself has chosen of the options, in which is noted what only interceptors read.
  @inlinable
  package func scoped<Request: Sendable, Response: Sendable>(
    _ own: consuming CallInterceptors<Request, Response>?,
    for method: MethodDescriptor,
    _ options: inout CallOptions,
    chosenBy call: CallOptions?
  ) -> CallInterceptors<Request, Response>? {
    let factories = options.interceptorFactories
    if interceptorFactories.isEmpty, factories?.isEmpty ?? true { return consume own }
    note(&options, chosenBy: call)
    return chain(around: own?.interceptors ?? [], for: method, factories ?? [])
  }

  @usableFromInline
  func note(_ options: inout CallOptions, chosenBy call: CallOptions?) { options.noteSafety(chosenBy: call) }

  @usableFromInline
  func chain<Request: Sendable, Response: Sendable>(
    around own: [ClientInterceptor<Request, Response>],
    for method: MethodDescriptor,
    _ factories: [any ClientInterceptorFactory]
  ) -> CallInterceptors<Request, Response>? {
    let all =
      factories.makeClientInterceptors(for: method) + own
      + interceptorFactories.makeClientInterceptors(for: method)
    return all.isEmpty ? nil : CallInterceptors(all)
  }
}

@usableFromInline
final class FactoryBox<Factory>: @unchecked Sendable {
  // Sendable holds because the factory was sent here and is used only under the lock.
  @usableFromInline let factory: Factory
  @usableFromInline let lock = Locked(())

  @inlinable
  init(_ factory: sending Factory) { self.factory = factory }

  @inlinable
  func withFactory<Result>(_ body: (Factory) -> Result) -> Result {
    lock.withLock { _ in body(factory) }
  }
}
