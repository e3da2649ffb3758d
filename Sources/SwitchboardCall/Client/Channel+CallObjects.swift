extension Channel {
  /// Starts a call with one request and one response.
  @inlinable
  public func makeUnaryCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    _ request: Requests.Message,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> AsyncUnaryCall<Responses.Message> {
    let record = CallRecord()
    let response = Eventual<Responses.Message>()
    let receiver = EventualReceiver(responses, record, response)
    do {
      let message = try GRPCStatus.encoding { try requests.encode(request) }
      let call = engine.makeCall(
        CallRequest(
          method: method,
          options: options,
          body: .message(message),
          contentSubtype: .of(requests, responses)
        ),
        receiver: receiver
      )
      call.start()
      return AsyncUnaryCall(call, record, response)
    } catch {
      receiver.close(error, trailers: HPACKHeaders())
      return AsyncUnaryCall(EndedCall(), record, response)
    }
  }

  /// Starts a call with a stream of requests and one response.
  @inlinable
  public func makeClientStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> AsyncClientStreamingCall<Requests.Message, Responses.Message> {
    let record = CallRecord()
    let response = Eventual<Responses.Message>()
    let pipe = MessagePipe(limit: streamBufferSize)
    let call = engine.makeCall(
      CallRequest(
        method: method,
        options: options,
        body: .stream(pipe),
        contentSubtype: .of(requests, responses)
      ),
      receiver: EventualReceiver(responses, record, response)
    )
    call.start()
    return AsyncClientStreamingCall(
      call,
      record,
      RequestStreamWriter(call, pipe) { try requests.encode($0) },
      response
    )
  }

  /// Starts a call with one request and a stream of responses.
  @inlinable
  public func makeServerStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    _ request: Requests.Message,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> AsyncServerStreamingCall<Responses.Message> {
    let record = CallRecord()
    let reader: StreamReader
    do {
      let message = try GRPCStatus.encoding { try requests.encode(request) }
      reader = StreamReader(self, method, options, .message(message), .of(requests, responses), record)
      reader.call.start()
    } catch {
      record.close(error, HPACKHeaders())
      reader = StreamReader(self, failing: error)
    }
    return AsyncServerStreamingCall(
      reader.call,
      record,
      ResponseStream(reader) { try responses.decode($0) }
    )
  }

  /// Starts a call with streams both ways.
  @inlinable
  public func makeBidirectionalStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> AsyncBidirectionalStreamingCall<Requests.Message, Responses.Message> {
    let record = CallRecord()
    let pipe = MessagePipe(limit: streamBufferSize)
    let reader = StreamReader(self, method, options, .stream(pipe), .of(requests, responses), record)
    reader.call.start()
    return AsyncBidirectionalStreamingCall(
      reader.call,
      record,
      RequestStreamWriter(reader.call, pipe) { try requests.encode($0) },
      ResponseStream(reader) { try responses.decode($0) }
    )
  }
}
