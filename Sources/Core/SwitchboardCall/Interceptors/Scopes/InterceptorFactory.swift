/// Makes interceptors for calls of any method and with any messages, on both sides. What works on one side only conforms
/// to `ClientInterceptorFactory` or to `ServerInterceptorFactory`.
public typealias InterceptorFactory = ClientInterceptorFactory & ServerInterceptorFactory

/// Makes the client's interceptors of calls of any method and with any messages: one factory can serve a call, a client,
/// a channel or a whole process.
///
/// It is called once per call, possibly by several threads at once. State that the interceptors of several calls share
/// belongs in the factory.
///
/// ```swift
/// struct Tracing: ClientInterceptorFactory {
///   func makeClientInterceptors<Request, Response>(
///     for method: MethodDescriptor
///   ) -> [ClientInterceptor<Request, Response>] { [Tagging()] }
/// }
/// ```
public protocol ClientInterceptorFactory: Sendable {
  /// Makes the client's interceptors of one call, in the order in which requests pass them.
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>]
}

/// Makes the server's interceptors of calls of any method and with any messages: one factory can serve a service, a
/// server or a whole process. It is called as a client's is. For interceptors that only let calls pass or refuse them,
/// see `ServerGuard`.
public protocol ServerInterceptorFactory: Sendable {
  /// Makes the server's interceptors of one call, in the order in which requests pass them.
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>]
}

extension [any ClientInterceptorFactory] {
  /// Makes the interceptors of all factories for one call, in order, and puts them before `own`. Used by generated code.
  @inlinable
  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor,
    before own: [ClientInterceptor<Request, Response>] = []
  ) -> [ClientInterceptor<Request, Response>] {
    isEmpty ? own : makeAll(for: method) + own
  }

  // Not inlinable, so that users' modules hold no copies of it.
  @usableFromInline
  func makeAll<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    flatMap { $0.makeClientInterceptors(for: method) }
  }
}

extension [any ServerInterceptorFactory] {
  /// Makes the interceptors of all factories for one call, in order, and puts them before `own`. Used by generated code.
  @inlinable
  public func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor,
    before own: [ServerInterceptor<Request, Response>] = []
  ) -> [ServerInterceptor<Request, Response>] {
    isEmpty ? own : makeAll(for: method) + own
  }

  // Not inlinable, so that users' modules hold no copies of it.
  @usableFromInline
  func makeAll<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] {
    flatMap { $0.makeServerInterceptors(for: method) }
  }

  /// Returns a closure that makes the interceptors of one call: those of these factories, and then the method's own.
  /// `nil` if there are neither.
  @inlinable
  func wrapping<Request: Sendable, Response: Sendable>(
    _ own: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    for method: MethodDescriptor
  ) -> (@Sendable () -> [ServerInterceptor<Request, Response>])? {
    guard !isEmpty else { return own }
    return { makeServerInterceptors(for: method, before: own?() ?? []) }
  }
}
