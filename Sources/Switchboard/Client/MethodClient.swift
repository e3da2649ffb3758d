/// Calls methods that are described in Swift: what a generated client is for a service of a `.proto` file.
///
/// ```swift
/// let stock = MethodClient(channel: channel)
/// let item = try await stock.call(Stock.find).unary(Query(name: "kettle"))
/// ```
public struct MethodClient: Sendable {
  /// What the calls are made on.
  public let channel: Channel
  /// For all calls; those that have options of their own override them field by field.
  public var defaultCallOptions: CallOptions

  /// A client on `channel`.
  public init(channel: Channel, defaultCallOptions: CallOptions = CallOptions()) {
    self.channel = channel
    self.defaultCallOptions = defaultCallOptions
  }
  /// A call of `method`, in whichever form is chosen of what this returns. Its own interceptors stand between those of its
  /// options and the channel's; where it has any, make one call of it.
  @inlinable
  public func call<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<RequestMarshaller.Message, ResponseMarshaller.Message>? = nil
  ) -> MethodCall<RequestMarshaller, ResponseMarshaller> {
    let options = defaultCallOptions.overridden(by: callOptions)
    let chain = channel.scoped(interceptors, for: method.descriptor, options.interceptorFactories)
    return MethodCall(method, on: channel, options: options, interceptors: chain)
  }
}
