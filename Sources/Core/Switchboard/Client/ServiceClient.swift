/// The base of generated clients: a channel, the options of all calls and a factory of interceptors.
public protocol ServiceClient: Sendable {
  /// The protocol of the service's interceptor factories.
  associatedtype InterceptorFactory

  /// The channel of the calls.
  var channel: Channel { get }
  /// The options of all calls; options passed to a call override them field by field.
  var defaultCallOptions: CallOptions { get set }
  /// The client's factory of interceptors, if it has one.
  var interceptors: ClientInterceptors<InterceptorFactory> { get }
}

extension ServiceClient {
  /// Prepares a call of one method, with the interceptors of all scopes. Used by generated code.
  @inlinable
  public func call<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ options: CallOptions?,
    _ makeInterceptors: (InterceptorFactory) -> [ClientInterceptor<
      RequestMarshaller.Message, ResponseMarshaller.Message
    >]
  ) -> MethodCall<RequestMarshaller, ResponseMarshaller> {
    let chosen = options
    var options = defaultCallOptions.overridden(by: chosen)
    let own = interceptors.make(makeInterceptors)
    let chain = channel.scoped(consume own, for: method.descriptor, &options, chosenBy: chosen)
    return MethodCall(method, on: channel, options: options, interceptors: chain)
  }
}
