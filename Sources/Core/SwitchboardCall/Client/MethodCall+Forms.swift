// The forms of a call.
extension MethodCall {
  // MARK: Awaited; a task that is already cancelled starts no call

  /// Sends one request and returns the response.
  @inlinable @inline(__always)
  nonisolated(nonsending) public func unary(_ request: Request) async throws -> Response {
    if Task.isCancelled { throw GRPCStatus.cancelledByCaller }
    if let interceptors {
      if method.descriptor.type != .unary { throw GRPCStatus.wrongForm(method.descriptor) }
      return try await makeChain(interceptors).response(to: request)
    }
    let response = ResponseHandover<Response>()
    return try await response.value(of: start(request, response))
  }

  /// Sends the requests of a sequence and returns the response. Stops writing when the call ends, even while the
  /// sequence is waiting for its next element.
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

  /// Sends the requests of a sequence and returns the response.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<Messages: Sequence<Request> & Sendable>(
    _ requests: Messages
  ) async throws -> Response {
    try await clientStreaming(ImmediateSequence(requests))
  }

  // MARK: Streams of responses

  /// Sends one request. The call starts now; dropping the stream cancels it.
  @inlinable
  public func serverStreaming(_ request: Request) -> ResponseStream<Response> {
    startStream(.message(request)).1
  }

  /// Sends the requests of a sequence while responses are read. The call starts now; dropping the stream cancels it.
  @inlinable
  public func bidirectionalStreaming<Messages: AsyncSequence & Sendable>(
    _ requests: Messages
  ) -> ResponseStream<Response> where Messages.Element == Request {
    let (started, responses) = startStream(.stream)
    responses.keep(write(requests, to: started))
    return responses
  }

  /// Sends the requests of a sequence while the responses are read.
  @inlinable
  public func bidirectionalStreaming<Messages: Sequence<Request> & Sendable>(
    _ requests: Messages
  ) -> ResponseStream<Response> {
    bidirectionalStreaming(ImmediateSequence(requests))
  }

  /// Writes requests in a task. The task runs on the loop if there are interceptors or the caller is on the loop;
  /// otherwise elsewhere, because the caller's sequence may block.
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
}
