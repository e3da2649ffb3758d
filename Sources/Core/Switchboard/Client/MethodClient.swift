/// Calls methods that are described in Swift, as a generated client calls those of a `.proto` file.
///
/// ```swift
/// let stock = MethodClient(channel: channel)
/// let item = try await stock.call(Stock.find).unary(Query(name: "kettle"))
/// ```
public struct MethodClient: Sendable {
  /// The channel of the calls.
  public let channel: Channel
  /// The options of all calls; options passed to a call override them field by field.
  public var defaultCallOptions: CallOptions

  /// Creates a client on `channel`.
  public init(channel: Channel, defaultCallOptions: CallOptions = CallOptions()) {
    self.channel = channel
    self.defaultCallOptions = defaultCallOptions
  }
  /// Prepares a call of `method`, to be made in the form that you choose. Its interceptors follow those of its options
  /// and precede the channel's. A call with interceptors can be made only once.
  ///
  /// ```swift
  /// let item = try await stock.call(Stock.find, interceptors: [Tagging()]).unary(Query(name: "kettle"))
  /// ```
  @inlinable
  public func call<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    callOptions: CallOptions? = nil,
    interceptors: sending [ClientInterceptor<RequestMarshaller.Message, ResponseMarshaller.Message>] = []
  ) -> MethodCall<RequestMarshaller, ResponseMarshaller> {
    var options = defaultCallOptions.overridden(by: callOptions)
    let own = interceptors.isEmpty ? nil : CallInterceptors(interceptors)
    let chain = channel.scoped(consume own, for: method.descriptor, &options, chosenBy: callOptions)
    return MethodCall(method, on: channel, options: options, interceptors: chain)
  }
}
