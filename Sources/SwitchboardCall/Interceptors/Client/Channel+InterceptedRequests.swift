extension Channel {
  /// A sequence of requests, one response. Stops writing when the server has answered.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message>
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) async throws -> Responses.Message {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return try await clientStreamingInFormat(method, messages, options)
      }
      return try await clientStreaming(
        method.descriptor,
        messages,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let (pipeline, response) = start(method, options, interceptors)
    do {
      let writer = pipeline.makeWriter()
      for message in messages { try await writer.write(message) }
      pipeline.finishRequests()
    } catch {
      pipeline.stopWriting(error)
    }
    return try await response.value(of: pipeline)
  }

  /// A sequence of requests as they come, one response. Stops writing when the call has ended, also where the sequence
  /// has nothing to give then.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) async throws -> Responses.Message where Messages.Element == Requests.Message {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return try await clientStreamingInFormat(method, messages, options)
      }
      return try await clientStreaming(
        method.descriptor,
        messages,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let (pipeline, response) = start(method, options, interceptors)
    // On the loop, where the chain is: each request would have to go there anyway.
    let writing = Task(executorPreference: eventLoop) {
      do {
        let writer = pipeline.makeWriter()
        for try await message in messages { try await writer.write(message) }
        pipeline.finishRequests()
      } catch {
        pipeline.stopWriting(error)
      }
    }
    defer { writing.cancel() }
    return try await response.value(of: pipeline)
  }

  @inlinable
  func start<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?,
    _ interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>
  ) -> (ClientPipeline<Requests.Message, Responses.Message>, ResponseHandover<Responses.Message>) {
    let pipeline = makePipeline(method, options, interceptors)
    let handover = ResponseHandover<Responses.Message>()
    pipeline.toCaller = { part in
      guard let result = handover.take(part) else { return }
      handover.value = result
      handover.settle()
    }
    pipeline.startStream()
    return (pipeline, handover)
  }

  /// A sequence of requests as they come, written while the responses are read.
  @inlinable
  public func bidirectionalStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    options: CallOptions?,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> ResponseStream<Responses.Message> where Messages.Element == Requests.Message {
    guard let interceptors else {
      if let options, options.payloadFormat != nil {
        return bidirectionalStreamingInFormat(method, messages, options)
      }
      return bidirectionalStreaming(
        method.descriptor,
        messages,
        requests: method.requests,
        responses: method.responses,
        options: options
      )
    }
    let pipeline = makePipeline(method, options, interceptors)
    return stream(pipeline) { writer in
      for try await message in messages { try await writer.write(message) }
    }
  }

  @inlinable
  func stream<Request, Response>(
    _ pipeline: ClientPipeline<Request, Response>,
    _ write: @escaping @Sendable (PartWriter<Request>) async throws -> Void
  ) -> ResponseStream<Response> {
    let reader = PartReader(pipeline)
    pipeline.toCaller = reader.queue.sink
    pipeline.startStream()
    reader.queue.open()
    // On the loop, where the chain is: each request would have to go there anyway.
    reader.write(on: eventLoop) {
      do {
        try await write(pipeline.makeWriter())
        pipeline.finishRequests()
      } catch {
        pipeline.stopWriting(error)
      }
    }
    return ResponseStream(reader)
  }
}
