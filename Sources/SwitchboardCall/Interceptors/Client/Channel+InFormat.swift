// Calls in a format that their options ask for. Not inlinable: a user's module needs no copy of this for each of its
// methods, and what is compiled there stays as small as it is without a choice.
extension Channel {
  @usableFromInline
  nonisolated(nonsending) func unaryInFormat<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions
  ) async throws -> Responses.Message {
    let method = method.inFormat(of: options)
    return try await unary(
      method.descriptor,
      request,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func serverStreamingInFormat<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions
  ) -> ResponseStream<Responses.Message> {
    let method = method.inFormat(of: options)
    return serverStreaming(
      method.descriptor,
      request,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func makeUnaryCallInFormat<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions
  ) -> AsyncUnaryCall<Responses.Message> {
    let method = method.inFormat(of: options)
    return makeUnaryCall(
      method.descriptor,
      request,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func makeClientStreamingCallInFormat<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions
  ) -> AsyncClientStreamingCall<Requests.Message, Responses.Message> {
    let method = method.inFormat(of: options)
    return makeClientStreamingCall(
      method.descriptor,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func makeServerStreamingCallInFormat<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions
  ) -> AsyncServerStreamingCall<Responses.Message> {
    let method = method.inFormat(of: options)
    return makeServerStreamingCall(
      method.descriptor,
      request,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func makeBidirectionalStreamingCallInFormat<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions
  ) -> AsyncBidirectionalStreamingCall<Requests.Message, Responses.Message> {
    let method = method.inFormat(of: options)
    return makeBidirectionalStreamingCall(
      method.descriptor,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  nonisolated(nonsending) func clientStreamingInFormat<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message>
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    _ options: CallOptions
  ) async throws -> Responses.Message {
    let method = method.inFormat(of: options)
    return try await clientStreaming(
      method.descriptor,
      messages,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  nonisolated(nonsending) func clientStreamingInFormat<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    _ options: CallOptions
  ) async throws -> Responses.Message where Messages.Element == Requests.Message {
    let method = method.inFormat(of: options)
    return try await clientStreaming(
      method.descriptor,
      messages,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func bidirectionalStreamingInFormat<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message> & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    _ options: CallOptions
  ) -> ResponseStream<Responses.Message> {
    let method = method.inFormat(of: options)
    return bidirectionalStreaming(
      method.descriptor,
      messages,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }

  @usableFromInline
  func bidirectionalStreamingInFormat<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ messages: Messages,
    _ options: CallOptions
  ) -> ResponseStream<Responses.Message> where Messages.Element == Requests.Message {
    let method = method.inFormat(of: options)
    return bidirectionalStreaming(
      method.descriptor,
      messages,
      requests: method.requests,
      responses: method.responses,
      options: options
    )
  }
}
