extension Channel {
  /// Starts a call with one request and one response.
  @inlinable
  public func makeUnaryCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> AsyncUnaryCall<Responses.Message> {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return makeUnaryCallInFormat(method, request, options)
      }
      return makeUnaryCall(
        method.descriptor,
        request,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    let record = CallRecord()
    let response = Eventual<Responses.Message>()
    pipeline.toCaller = Self.recording(record, response)
    pipeline.start(request)
    return AsyncUnaryCall(pipeline, record, response)
  }

  /// Starts a call with a stream of requests and one response.
  @inlinable
  public func makeClientStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> AsyncClientStreamingCall<Requests.Message, Responses.Message> {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return makeClientStreamingCallInFormat(method, options)
      }
      return makeClientStreamingCall(
        method.descriptor,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    let record = CallRecord()
    let response = Eventual<Responses.Message>()
    pipeline.toCaller = Self.recording(record, response)
    pipeline.startStream()
    return AsyncClientStreamingCall(pipeline, record, RequestStreamWriter(pipeline), response)
  }

  /// Starts a call with one request and a stream of responses.
  @inlinable
  public func makeServerStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> AsyncServerStreamingCall<Responses.Message> {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return makeServerStreamingCallInFormat(method, request, options)
      }
      return makeServerStreamingCall(
        method.descriptor,
        request,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    let record = CallRecord()
    let reader = Self.recording(record, pipeline)
    pipeline.start(request)
    reader.queue.open()
    return AsyncServerStreamingCall(pipeline, record, ResponseStream(reader))
  }

  /// Starts a call with streams both ways.
  @inlinable
  public func makeBidirectionalStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> AsyncBidirectionalStreamingCall<Requests.Message, Responses.Message> {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return makeBidirectionalStreamingCallInFormat(method, options)
      }
      return makeBidirectionalStreamingCall(
        method.descriptor,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    let record = CallRecord()
    let reader = Self.recording(record, pipeline)
    pipeline.startStream()
    reader.queue.open()
    return AsyncBidirectionalStreamingCall(
      pipeline,
      record,
      RequestStreamWriter(pipeline),
      ResponseStream(reader)
    )
  }
}

// MARK: - What call objects make of the parts

extension Channel {
  @inlinable
  static func recording<Response: Sendable>(
    _ record: CallRecord,
    _ response: Eventual<Response>
  ) -> (GRPCClientResponsePart<Response>) -> Void {
    { part in
      switch part {
      case .metadata(let headers):
        record.receive(headers: headers)
      case .message(let message):
        response.settle(.success(message))
      case .end(let status, let trailers):
        response.settle(.failure(status.isOk ? .missingResponse : status))
        record.close(status, trailers)
      }
    }
  }

  @inlinable
  static func recording<Request, Response>(
    _ record: CallRecord,
    _ pipeline: ClientPipeline<Request, Response>
  ) -> PartReader<Response> {
    let reader = PartReader(pipeline)
    let queue = reader.queue
    pipeline.toCaller = { part in
      switch part {
      case .metadata(let headers):
        record.receive(headers: headers)
      case .message(let message):
        queue.push(message)
      case .end(let status, let trailers):
        queue.finish(status.isOk ? nil : status)
        record.close(status, trailers)
      }
    }
    return reader
  }
}
