/// A call of one method that is ready to be made, with its channel, options and interceptors.
///
/// Each form of call is a method of this type. Without interceptors, a value can make any number of calls:
///
/// ```swift
/// let find = MethodClient(channel: channel).call(Stock.find)
/// let kettle = try await find.unary(Query(name: "kettle"))
/// let teapot = try await find.unary(Query(name: "teapot"))
/// ```
@frozen
public struct MethodCall<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>: Sendable {
  /// The request message.
  public typealias Request = RequestMarshaller.Message
  /// The response message.
  public typealias Response = ResponseMarshaller.Message

  @usableFromInline package let method: Method<RequestMarshaller, ResponseMarshaller>
  @usableFromInline let channel: Channel
  @usableFromInline package let options: CallOptions?
  @usableFromInline let interceptors: CallInterceptors<Request, Response>?

  /// Creates a call of `method`. It passes only `interceptors`; the channel's own are not added.
  @inlinable
  package init(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    on channel: Channel,
    options: CallOptions? = nil,
    interceptors: CallInterceptors<Request, Response>? = nil
  ) {
    self.method = method
    self.channel = channel
    self.options = options
    self.interceptors = interceptors
  }

  /// The channel's logger.
  @usableFromInline package var logger: Logger { channel.logger }

  // MARK: Starting: every form of call uses one of these three

  /// Starts an awaited call with one request, without interceptors.
  ///
  /// A `CallBody` would count references to the request, for which threads that send the same request would contend.
  @inlinable @inline(__always)
  func start(_ request: Request, _ response: ResponseHandover<Response>) -> any ByteCall {
    if method.descriptor.type != .unary {
      response.end(.wrongForm(method.descriptor), HPACKHeaders(), nil)
      return EndedCall()
    }
    if let options, options.payloadFormat != nil {
      return startInFormat(options, .message(request), response, nil).call
    }
    return startOnTransport(request, CallReceiver(nil, response, method.responses), nil)
  }

  /// Starts the call; its single response goes to `response`. `record` receives metadata, trailers and status.
  @inlinable @inline(__always)
  package func start(
    _ body: CallBody<Request>,
    _ response: ResponseHandover<Response>,
    _ record: CallRecord? = nil
  ) -> StartedCall<Request> {
    if method.descriptor.type != body.form(streamsResponses: false) {
      response.end(.wrongForm(method.descriptor), HPACKHeaders(), record)
      return refused()
    }
    if let interceptors {
      let chain = makeChain(interceptors)
      chain.toCaller = { response.take($0, record) }
      return startInChain(chain, body)
    }
    if let options, options.payloadFormat != nil { return startInFormat(options, body, response, record) }
    return startOnTransport(body, CallReceiver(record, response, method.responses), nil)
  }

  /// Starts the call, with a stream of responses; with `ofAnyType`, also if the method has one response.
  @inlinable
  package func startStream(
    _ body: CallBody<Request>,
    _ record: CallRecord? = nil,
    ofAnyType: Bool = false
  ) -> (StartedCall<Request>, ResponseStream<Response>) {
    guard ofAnyType || method.descriptor.type == body.form(streamsResponses: true) else {
      return refusedStream(record)
    }
    if let interceptors {
      let chain = makeChain(interceptors)
      let reader = PartReader(chain)
      chain.toCaller = { [queue = reader.queue] in queue.take($0, record) }
      let started = startInChain(chain, body)
      reader.queue.open()
      return (started, ResponseStream(reader))
    }
    if let options, options.payloadFormat != nil { return startStreamInFormat(options, body, record) }
    return startStreamOnTransport(body, record)
  }

  // MARK: The three ways to start

  /// Through a chain of interceptors.
  @inlinable
  func startInChain(
    _ chain: ClientChain<Request, Response>,
    _ body: CallBody<Request>
  ) -> StartedCall<Request> {
    switch body {
    case .message(let request):
      chain.start(request)
      return StartedCall(chain)
    case .stream:
      chain.startStream()
      return StartedCall(chain, RequestStreamWriter(chain))
    }
  }

  /// Creates the chain with its marshallers. The caller connects its own end.
  @inlinable
  func makeChain(
    _ interceptors: CallInterceptors<Request, Response>
  ) -> ClientChain<Request, Response> {
    ClientChain(
      channel.engine,
      method.descriptor,
      options,
      interceptors.interceptors,
      codec: ClientCodec(method.requests, method.responses),
      contentSubtype: .of(method.requests, method.responses)
    )
  }

  /// Starts a call without interceptors, which needs no chain.
  @inlinable @inline(__always)
  func startOnTransport(
    _ body: CallBody<Request>,
    _ receiver: CallReceiver,
    _ responses: MessagePipe?
  ) -> StartedCall<Request> {
    switch body {
    case .message(let request):
      return StartedCall(startOnTransport(request, receiver, responses))
    case .stream:
      let requests = MessagePipe(limit: channel.streamBufferSize)
      let call = startEncoded(.stream(requests), receiver, responses)
      let encoder = method.requests
      return StartedCall(call, RequestStreamWriter(call, requests) { try encoder.encode($0) })
    }
  }

  /// Starts a call with one request and without interceptors.
  @inlinable @inline(__always)
  func startOnTransport(
    _ request: Request,
    _ receiver: CallReceiver,
    _ responses: MessagePipe?
  ) -> any ByteCall {
    do {
      let message = try GRPCStatus.encoding { try method.requests.encode(request) }
      return startEncoded(.message(message), receiver, responses)
    } catch {
      receiver.close(error, trailers: HPACKHeaders())
      return EndedCall()
    }
  }

  @inlinable
  func startStreamOnTransport(
    _ body: CallBody<Request>,
    _ record: CallRecord?
  ) -> (StartedCall<Request>, ResponseStream<Response>) {
    let pipe = MessagePipe(limit: channel.streamBufferSize)
    let started = startOnTransport(body, CallReceiver(record, pipe), pipe)
    let marshaller = method.responses
    let reader = StreamReader(started.call, pipe)
    let decoder = StreamDecoder { bytes in
      try GRPCStatus.decoding(failed: { reader.fail($0, record) }) { try marshaller.decode(bytes) }
    } onLoop: {
      marshaller.decodesOnLoop($0)
    }
    return (started, ResponseStream(reader, decoder))
  }

  /// Starts a call whose requests are bytes: the one that there is, or those that are written to a pipe.
  @inlinable @inline(__always)
  func startEncoded(
    _ body: CallRequest.Body,
    _ receiver: CallReceiver,
    _ responses: MessagePipe?
  ) -> any ByteCall {
    channel.startCall(
      method.descriptor,
      options: options,
      body: body,
      responses: responses,
      contentSubtype: .of(method.requests, method.responses),
      receiver: receiver
    )
  }

  // A call that is not made, because its form is not that of the method. Whatever is done with it throws that.

  @usableFromInline
  func refused() -> StartedCall<Request> {
    let (call, requests) = (EndedCall(), MessagePipe(limit: 1))
    requests.finish(.wrongForm(method.descriptor))
    let encoder = method.requests
    let writer = RequestStreamWriter(call, requests) { try encoder.encode($0) }
    // Releasing the call says nothing else.
    writer.owner?.finish()
    return StartedCall(call, writer)
  }

  @usableFromInline
  func refusedStream(_ record: CallRecord?) -> (StartedCall<Request>, ResponseStream<Response>) {
    let (started, responses, decoder) = (refused(), MessagePipe(limit: 1), method.responses)
    CallReceiver(record, responses).close(.wrongForm(method.descriptor), trailers: HPACKHeaders())
    let reader = StreamReader(started.call, responses)
    let decode = StreamDecoder {
      try decoder.decode($0)
    } onLoop: { _ in
      true
    }
    return (started, ResponseStream(reader, decode))
  }

  // Formats that the call's options choose. Not inlinable, which keeps the code compiled into users' modules small.

  @usableFromInline
  func startInFormat(
    _ options: CallOptions,
    _ body: CallBody<Request>,
    _ response: ResponseHandover<Response>,
    _ record: CallRecord?
  ) -> StartedCall<Request> {
    let call = inFormat(of: options)
    return call.startOnTransport(body, CallReceiver(record, response, call.method.responses), nil)
  }

  @usableFromInline
  func startStreamInFormat(
    _ options: CallOptions,
    _ body: CallBody<Request>,
    _ record: CallRecord?
  ) -> (StartedCall<Request>, ResponseStream<Response>) {
    inFormat(of: options).startStreamOnTransport(body, record)
  }

  private func inFormat(
    of options: CallOptions
  ) -> MethodCall<AnyMarshaller<Request>, AnyMarshaller<Response>> {
    MethodCall<AnyMarshaller<Request>, AnyMarshaller<Response>>(
      method.inFormat(of: options),
      on: channel,
      options: options
    )
  }
}

/// The requests of a call.
@frozen
@usableFromInline
package enum CallBody<Request: Sendable> {
  case message(Request)
  /// The requests are written to `StartedCall.requests`.
  case stream

  /// The type of the methods that are called so.
  @inlinable
  func form(streamsResponses: Bool) -> GRPCCallType {
    switch self {
    case .message: streamsResponses ? .serverStreaming : .unary
    case .stream: streamsResponses ? .bidirectionalStreaming : .clientStreaming
    }
  }
}

/// A call in flight, and the writer of its requests.
@frozen
@usableFromInline
package struct StartedCall<Request: Sendable>: Sendable {
  @usableFromInline package let call: any ByteCall
  @usableFromInline package let requests: RequestStreamWriter<Request>

  /// Without `requests`, the call already has all its requests.
  @inlinable
  init(_ call: any ByteCall, _ requests: RequestStreamWriter<Request> = RequestStreamWriter()) {
    self.call = call
    self.requests = requests
  }
}
