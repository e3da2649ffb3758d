/// A call of raw bytes to any method: for messages that have no generated code.
///
/// The server's method decides how many messages go each way; the call does not need to know.
public final class Call: Sendable {
  private let call: HandledCall<[UInt8], [UInt8]>
  /// Where the call goes.
  public let request: RequestOptions
  /// What the call was made with.
  public let options: CallOptions

  /// A call on a channel, which says where it goes; of `request`, the path counts. `start` sends it on its way.
  public init(
    _ request: RequestOptions,
    responseHandler: any ResponseHandler<[UInt8]>,
    callOptions: CallOptions = CallOptions(),
    channel: Channel
  ) {
    self.request = request
    options = callOptions
    let method = Method(
      MethodDescriptor(path: request.path, type: .bidirectionalStreaming),
      requests: BytesMarshaller(),
      responses: BytesMarshaller()
    )
    // What interceptors read of it is among the options.
    var effective = callOptions
    if request.safety != .default { effective.safety = request.safety }
    let chain: ClientInterceptorChain<[UInt8], [UInt8]>? = channel.scoped(
      nil,
      for: method.descriptor,
      callOptions.interceptorFactories
    )
    call = HandledCall(
      MethodCall(method, on: channel, options: effective, interceptors: chain),
      nil,
      responseHandler
    )
  }

  /// Sends the call on its way. Throws `FAILED_PRECONDITION` when it was called before, and `INVALID_ARGUMENT` for a
  /// path that cannot be a method's.
  public func start() throws(GRPCStatus) {
    guard request.path.hasPrefix("/"), request.path.utf8.count(where: { $0 == UInt8(ascii: "/") }) >= 2
    else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "not the path of a method, such as /package.Service/Method: \(request.path)"
      )
    }
    try call.start()
  }

  /// Sends a message, after those that were written before. The handler is told when there is room for another.
  ///
  /// Throws `FAILED_PRECONDITION` before `start`, after `finish` and after `cancel`, and `RESOURCE_EXHAUSTED` when too
  /// many messages wait to be sent. Once the server has ended the call, a message goes nowhere.
  public func write(_ data: [UInt8]) throws(GRPCStatus) { try call.write(data) }

  /// Says that no message follows. Throws `FAILED_PRECONDITION` before `start`, after `cancel`, and the second time.
  public func finish() throws(GRPCStatus) { try call.finish() }

  /// Ends the call with `cancelled`, unless it has ended. One that was not started never will be.
  public func cancel() { call.cancel() }

  /// Lets the handler have so many more responses, where the call's options enable flow control; without, it gets all
  /// of them anyway. Throws `FAILED_PRECONDITION` before the call is started.
  public func receiveNextMessages(_ count: Int) throws(GRPCStatus) { try call.receiveNextMessages(count) }
}
