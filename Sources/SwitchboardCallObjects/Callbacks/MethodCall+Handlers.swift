public import SwitchboardCall

// Calls with a handler, started by their `start()`.
extension MethodCall {
  /// A call with one request, whose responses go to a handler.
  @inlinable
  public func makeUnaryCall(
    _ request: Request,
    responseHandler: any ResponseHandler<Response>
  ) -> UnaryCall<Request, Response> {
    UnaryCall(HandledCall(self, request, responseHandler), options)
  }

  /// A call whose requests are written one by one, and whose responses go to a handler.
  @inlinable
  public func makeStreamingCall(
    responseHandler: any ResponseHandler<Response>
  ) -> StreamingCall<Request, Response> {
    StreamingCall(HandledCall(self, nil, responseHandler), options)
  }
}
