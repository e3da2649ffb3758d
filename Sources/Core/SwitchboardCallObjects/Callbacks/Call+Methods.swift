import SwitchboardCall

// A file of its own, so that programs without such calls need not contain it: linkers keep what is in the file of a class,
// and with these methods the compiler emits what it specializes for raw bytes.
extension Call {
  /// Creates a call on `channel`, which determines the host; `request.host` is ignored. Nothing is sent before `start`.
  public convenience init(
    _ request: RequestOptions,
    responseHandler: any ResponseHandler<[UInt8]>,
    callOptions: CallOptions = CallOptions(),
    channel: Channel
  ) {
    let method = Method(
      MethodDescriptor(path: request.path, type: .bidirectionalStreaming),
      requests: BytesMarshaller(),
      responses: BytesMarshaller()
    )
    // Interceptors read the safety from the options.
    var effective = callOptions
    if request.safety != .default { effective.safety = request.safety }
    let chosen = effective
    let chain: CallInterceptors<[UInt8], [UInt8]>? = channel.scoped(
      nil,
      for: method.descriptor,
      &effective,
      chosenBy: chosen
    )
    let call = MethodCall(method, on: channel, options: effective, interceptors: chain)
    self.init(request, callOptions, HandledCall(call, nil, responseHandler))
  }

  /// Starts the call. Throws `FAILED_PRECONDITION` the second time, and `INVALID_ARGUMENT` if the path is malformed.
  public func start() throws(GRPCStatus) {
    guard request.path.hasPrefix("/"), request.path.utf8.count(where: { $0 == UInt8(ascii: "/") }) >= 2
    else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "the path does not have the form /package.Service/Method: \(request.path)"
      )
    }
    try call.start()
  }

  /// Queues a message. The handler is notified when there is room for another.
  ///
  /// Throws `FAILED_PRECONDITION` before `start` and after `finish` or `cancel`, and `RESOURCE_EXHAUSTED` when too many
  /// messages are waiting. Messages written after the server has ended the call are dropped.
  public func write(_ data: [UInt8]) throws(GRPCStatus) { try call.write(data) }

  /// Ends the requests. Throws `FAILED_PRECONDITION` before `start`, after `cancel`, and the second time.
  public func finish() throws(GRPCStatus) { try call.finish() }

  /// Ends the call with `cancelled`, unless it has ended. A call that has not started can no longer start.
  public func cancel() { call.cancel() }

  /// Lets `count` more responses reach the handler, if the call's options enable flow control. Otherwise, all responses
  /// do. Throws `FAILED_PRECONDITION` before `start`.
  public func receiveNextMessages(_ count: Int) throws(GRPCStatus) { try call.receiveNextMessages(count) }
}
