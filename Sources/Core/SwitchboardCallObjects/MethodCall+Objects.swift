import SwitchboardCall

// Call objects: calls that start at once, and give access to metadata, trailers and the status.
extension MethodCall {
  /// Starts a call with one request and one response.
  @inlinable
  public func makeUnaryCall(_ request: Request) -> AsyncUnaryCall<Response> {
    let (record, response) = (CallRecord(), OneShot<Response>())
    let started = start(.message(request), ResponseHandover(response), record)
    return AsyncUnaryCall(CallHandle(started.call, record), response)
  }

  /// Starts a call with a stream of requests and one response.
  @inlinable
  public func makeClientStreamingCall() -> AsyncClientStreamingCall<Request, Response> {
    let (record, response) = (CallRecord(), OneShot<Response>())
    let started = start(.stream, ResponseHandover(response), record)
    return AsyncClientStreamingCall(
      CallHandle(started.call, record, started.requests.owner),
      started.requests,
      response
    )
  }

  /// Starts a call with one request and a stream of responses.
  @inlinable
  public func makeServerStreamingCall(_ request: Request) -> AsyncServerStreamingCall<Response> {
    makeServerStreamingCall(request, ofAnyType: false)
  }

  /// The same; with `ofAnyType`, also of a method with one response.
  @inlinable
  package func makeServerStreamingCall(
    _ request: Request,
    ofAnyType: Bool
  ) -> AsyncServerStreamingCall<Response> {
    let record = CallRecord()
    let (started, responses) = startStream(.message(request), record, ofAnyType: ofAnyType)
    return AsyncServerStreamingCall(CallHandle(started.call, record), responses)
  }

  /// Starts a call with streams in both directions.
  @inlinable
  public func makeBidirectionalStreamingCall() -> AsyncBidirectionalStreamingCall<Request, Response> {
    makeBidirectionalStreamingCall(ofAnyType: false)
  }

  /// The same; with `ofAnyType`, also of a method with one response.
  @inlinable
  package func makeBidirectionalStreamingCall(
    ofAnyType: Bool
  ) -> AsyncBidirectionalStreamingCall<Request, Response> {
    let record = CallRecord()
    let (started, responses) = startStream(.stream, record, ofAnyType: ofAnyType)
    return AsyncBidirectionalStreamingCall(
      CallHandle(started.call, record, started.requests.owner),
      started.requests,
      responses
    )
  }
}
