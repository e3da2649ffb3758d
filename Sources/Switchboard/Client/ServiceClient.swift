/// What generated clients stand on: a channel, the options of their calls and a factory of interceptors.
///
/// The closure that each kind of call takes asks the factory for the interceptors of its method.
public protocol ServiceClient: Sendable {
  /// The service's own protocol of factories.
  associatedtype InterceptorFactory

  /// What the calls are made on.
  var channel: Channel { get }
  /// For all calls; those that have options of their own override them field by field.
  var defaultCallOptions: CallOptions { get set }
  /// The factory, if there is one.
  var interceptors: ClientInterceptors<InterceptorFactory> { get }
}

extension ServiceClient {
  /// A call of one method, with the interceptors of all scopes: generated code makes its calls on it.
  @inlinable
  public func call<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ options: CallOptions?,
    _ makeInterceptors: (InterceptorFactory) -> [ClientInterceptor<
      RequestMarshaller.Message, ResponseMarshaller.Message
    >]
  ) -> MethodCall<RequestMarshaller, ResponseMarshaller> {
    let options = defaultCallOptions.overridden(by: options)
    let chain = interceptors.make(
      for: method.descriptor,
      options: options.interceptorFactories ?? [],
      channel: channel.interceptorFactories,
      makeInterceptors
    )
    return MethodCall(method, on: channel, options: options, interceptors: chain)
  }
}
