import SwitchboardCall

/// `TestService` as a generated client would have it.
struct Caller {
  let channel: Channel

  func get(
    _ method: MethodDescriptor = TestService.get,
    _ request: [UInt8] = [1, 2, 3],
    options: CallOptions? = nil
  ) async throws -> [UInt8] {
    try await channel.unary(
      method,
      request,
      requests: BytesMarshaller(),
      responses: BytesMarshaller(),
      options: options
    )
  }

  func expand(_ method: MethodDescriptor, _ request: [UInt8]) -> ResponseStream<[UInt8]> {
    channel.serverStreaming(
      method,
      request,
      requests: BytesMarshaller(),
      responses: BytesMarshaller()
    )
  }

  func collect(_ method: MethodDescriptor, _ requests: [[UInt8]]) async throws -> [UInt8] {
    try await channel.clientStreaming(
      method,
      requests,
      requests: BytesMarshaller(),
      responses: BytesMarshaller()
    )
  }

  func collect(
    _ method: MethodDescriptor,
    _ requests: some AsyncSequence<[UInt8], Never> & Sendable
  ) async throws -> [UInt8] {
    try await channel.clientStreaming(
      method,
      requests,
      requests: BytesMarshaller(),
      responses: BytesMarshaller()
    )
  }

  func update(_ requests: [[UInt8]]) -> ResponseStream<[UInt8]> {
    channel.bidirectionalStreaming(
      TestService.update,
      requests,
      requests: BytesMarshaller(),
      responses: BytesMarshaller()
    )
  }
}
