// The forms of a call.
extension MethodCall {
  // MARK: Awaited: a task that was cancelled before starts no call

  /// One request, one response.
  @inlinable
  nonisolated(nonsending) public func unary(_ request: Request) async throws -> Response {
    if Task.isCancelled { throw GRPCStatus.cancelledByCaller }
    if let interceptors { return try await makePipeline(interceptors).response(to: request) }
    let response = ResponseHandover<Response>()
    return try await response.value(of: start(.message(request), response).call)
  }

  /// A sequence of requests as they come, one response. Stops writing when the call has ended, also where the sequence
  /// has nothing to give then.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<Messages: AsyncSequence & Sendable>(
    _ requests: Messages
  ) async throws -> Response where Messages.Element == Request {
    if Task.isCancelled { throw GRPCStatus.cancelledByCaller }
    let response = ResponseHandover<Response>()
    let started = start(.stream, response)
    let writing = write(requests, to: started)
    defer { writing.cancel() }
    return try await response.value(of: started.call)
  }

  /// A sequence of requests, one response.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<Messages: Sequence<Request> & Sendable>(
    _ requests: Messages
  ) async throws -> Response {
    try await clientStreaming(ImmediateSequence(requests))
  }

  // MARK: Read

  /// One request, a stream of responses. The call starts now; dropping the stream cancels it.
  @inlinable
  public func serverStreaming(_ request: Request) -> ResponseStream<Response> {
    startStream(.message(request)).1
  }

  /// A sequence of requests as they come, written while the responses are read. The call starts now; dropping the stream
  /// cancels it.
  @inlinable
  public func bidirectionalStreaming<Messages: AsyncSequence & Sendable>(
    _ requests: Messages
  ) -> ResponseStream<Response> where Messages.Element == Request {
    let (started, responses) = startStream(.stream)
    responses.keep(write(requests, to: started))
    return responses
  }

  /// A sequence of requests, written while the responses are read.
  @inlinable
  public func bidirectionalStreaming<Messages: Sequence<Request> & Sendable>(
    _ requests: Messages
  ) -> ResponseStream<Response> {
    bidirectionalStreaming(ImmediateSequence(requests))
  }

  /// Writes requests beside whoever waits for what comes of them: on the loop where a chain of interceptors or the caller
  /// is there, and otherwise away from it, as the caller's sequence may do anything.
  @inlinable
  func write<Messages: AsyncSequence & Sendable>(
    _ messages: Messages,
    to started: StartedCall<Request>
  ) -> Task<Void, Never> where Messages.Element == Request {
    let (requests, call) = (started.requests, started.call)
    let loop: (any EventLoop)? =
      interceptors != nil || channel.eventLoop.inEventLoop ? channel.eventLoop : nil
    return Task(executorPreference: loop) {
      do {
        for try await message in messages { try await requests.send(message) }
        requests.finish()
      } catch {
        requests.fail(error, of: call)
      }
    }
  }

  // MARK: As objects: started at once, with their metadata, trailers and status

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
    return AsyncClientStreamingCall(CallHandle(started.call, record), started.requests, response)
  }

  /// Starts a call with one request and a stream of responses.
  @inlinable
  public func makeServerStreamingCall(_ request: Request) -> AsyncServerStreamingCall<Response> {
    let record = CallRecord()
    let (started, responses) = startStream(.message(request), record)
    return AsyncServerStreamingCall(CallHandle(started.call, record), responses)
  }

  /// Starts a call with streams both ways.
  @inlinable
  public func makeBidirectionalStreamingCall() -> AsyncBidirectionalStreamingCall<Request, Response> {
    let record = CallRecord()
    let (started, responses) = startStream(.stream, record)
    return AsyncBidirectionalStreamingCall(CallHandle(started.call, record), started.requests, responses)
  }

  // MARK: Told to a handler: they start when they are told to

  /// A call with one request, which tells a handler of its responses.
  @inlinable
  public func makeUnaryCall(
    _ request: Request,
    responseHandler: any ResponseHandler<Response>
  ) -> UnaryCall<Request, Response> {
    UnaryCall(HandledCall(self, request, responseHandler), options)
  }

  /// A call whose requests are written one by one, which tells a handler of its responses.
  @inlinable
  public func makeStreamingCall(
    responseHandler: any ResponseHandler<Response>
  ) -> StreamingCall<Request, Response> {
    StreamingCall(HandledCall(self, nil, responseHandler), options)
  }
}
