extension Channel {
  /// One request, one response. Without interceptors there is no chain, and no cost of one.
  @inlinable
  nonisolated(nonsending) public func unary<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) async throws -> Responses.Message {
    guard let interceptors else {
      return try await unary(
        method.descriptor,
        request,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        pipeline.toCaller = Self.singleResponse { continuation.resume(with: $0) }
        pipeline.onLoop { pipeline.send(request) }
      }
    } onCancel: {
      pipeline.cancelByCaller()
    }
  }

  /// One request, a stream of responses. The call starts now; dropping the stream cancels it.
  @inlinable
  public func serverStreaming<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> ResponseStream<Responses.Message> {
    guard let interceptors else {
      return serverStreaming(
        method.descriptor,
        request,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    let reader = PartReader(pipeline)
    pipeline.toCaller = reader.queue.sink
    pipeline.onLoop { pipeline.send(request) }
    return ResponseStream(reader)
  }

  /// What a caller of one response makes of the parts: a result, once.
  @inlinable
  static func singleResponse<Response: Sendable>(
    _ settle: @escaping (Result<Response, any Error>) -> Void
  ) -> (GRPCClientResponsePart<Response>) -> Void {
    var response: Response?
    var hasSeveral = false
    return { part in
      switch part {
      case .metadata:
        break
      case .message(let message):
        hasSeveral = response != nil
        response = message
      case .end(let status, _):
        guard status.isOk else { return settle(.failure(status)) }
        guard !hasSeveral else { return settle(.failure(GRPCStatus.tooManyMessages)) }
        settle(response.map { .success($0) } ?? .failure(GRPCStatus.missingResponse))
      }
    }
  }
}
