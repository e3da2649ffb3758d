/// Makes interceptors for calls of any method, whatever their messages are: one factory can serve a call, a client, a
/// channel, a server or all of a process.
///
/// It is asked once per call, possibly by several threads at once. What the interceptors of several calls share
/// belongs into the factory. Each side makes none unless it is written.
///
///     struct Tracing: InterceptorFactory {
///       func makeClientInterceptors<Request, Response>(
///         for method: MethodDescriptor
///       ) -> [ClientInterceptor<Request, Response>] { [TracingInterceptor()] }
///     }
public protocol InterceptorFactory: Sendable {
  /// The client's interceptors of one call, first outbound first.
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>]

  /// The server's interceptors of one call, first inbound first.
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
  /// What all of them make for one call, in their order.
  @usableFromInline
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    flatMap { $0.makeClientInterceptors(for: method) }
  }

  /// What all of them make for one call, in their order.
  @usableFromInline
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] {
    flatMap { $0.makeServerInterceptors(for: method) }
  }

  /// What makes the server's interceptors of one call: these factories, then the method's own; `nil` where there
  /// are neither.
  @inlinable
  func wrapping<Request: Sendable, Response: Sendable>(
    _ own: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    for method: MethodDescriptor
  ) -> (@Sendable () -> [ServerInterceptor<Request, Response>])? {
    guard !isEmpty else { return own }
    return { makeServerInterceptors(for: method) + (own?() ?? []) }
  }
}
