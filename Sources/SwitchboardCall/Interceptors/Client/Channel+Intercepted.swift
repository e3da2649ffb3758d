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
      if let options, options.payloadFormat != nil {
        return try await unaryInFormat(method, request, options)
      }
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
        pipeline.caller = continuation
        pipeline.start(request)
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
      if let options, options.payloadFormat != nil {
        return serverStreamingInFormat(method, request, options)
      }
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
    pipeline.start(request)
    reader.queue.open()
    return ResponseStream(reader)
  }
}
