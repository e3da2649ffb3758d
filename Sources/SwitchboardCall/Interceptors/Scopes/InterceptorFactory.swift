/// Makes interceptors for calls of any method and with any messages: one factory can serve a call, a client, a channel,
/// a server or a whole process.
///
/// It is called once per call, possibly by several threads at once. State that the interceptors of several calls share
/// belongs in the factory. By default, it makes no interceptors for either side.
///
/// ```swift
/// struct Tracing: InterceptorFactory {
///   func makeClientInterceptors<Request, Response>(
///     for method: MethodDescriptor
///   ) -> [ClientInterceptor<Request, Response>] { [Tagging()] }
/// }
/// ```
public protocol InterceptorFactory: Sendable {
  /// Makes the client's interceptors of one call, in the order in which requests pass them.
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>]

  /// Makes the server's interceptors of one call, in the order in which requests pass them.
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>]
}

extension InterceptorFactory {
  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [] }

  public func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [] }
}

extension [any InterceptorFactory] {
  /// Makes the interceptors of all factories for one call, in order.
  @usableFromInline
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    flatMap { $0.makeClientInterceptors(for: method) }
  }

  /// Makes the interceptors of all factories for one call, in order.
  @usableFromInline
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
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
    return { makeServerInterceptors(for: method) + (own?() ?? []) }
  }
}
