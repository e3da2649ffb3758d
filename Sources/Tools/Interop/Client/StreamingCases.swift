import InteropService
import Switchboard

extension InteropClient {
  private static let requestSizes = [27_182, 8, 1_828, 45_904]
  private static let responseSizes = [31_415, 9, 2_653, 58_979]

  func clientStreaming() async throws {
    let requests = try Self.requestSizes.map { size in
      try Grpc_Testing_StreamingInputCallRequest.with { $0.payload = try .zeros(Int32(size)) }
    }
    let response = try await service.streamingInputCall(requests)
    try expect(response.aggregatedPayloadSize, 74_922, "the size of all payloads")
  }

  func clientCompressedStreaming() async throws {
    let probe = try await failure("a request with a wrong compression flag") {
      let lie = try Grpc_Testing_StreamingInputCallRequest.with {
        $0.payload = try .zeros(27_182)
        $0.expectCompressed.value = true
      }
      _ = try await service.streamingInputCall([lie])
    }
    try expect(probe.code, .invalidArgument, "the status of the probe")

    let call = service.makeStreamingInputCallCall(callOptions: CallOptions(compression: .gzip))
    for (size, compressed) in [(27_182, true), (45_904, false)] {
      let request = try Grpc_Testing_StreamingInputCallRequest.with {
        $0.payload = try .zeros(Int32(size))
        $0.expectCompressed.value = compressed
      }
      try await call.requestStream.send(request, compress: compressed)
    }
    call.requestStream.finish()
    try expect(try await call.response.aggregatedPayloadSize, 73_086, "the size of all payloads")
  }

  func serverStreaming() async throws {
    let request = Grpc_Testing_StreamingOutputCallRequest.with {
      $0.responseParameters = Self.responseSizes.map { size in .with { $0.size = Int32(size) } }
    }
    var sizes: [Int] = []
    for try await response in service.streamingOutputCall(request) {
      sizes.append(response.payload.body.count)
    }
    try expect(sizes, Self.responseSizes, "the sizes of the responses")
  }

  func serverCompressedStreaming() async throws {
    let wanted = [(31_415, true), (92_653, false)]
    let request = Grpc_Testing_StreamingOutputCallRequest.with {
      $0.responseParameters = wanted.map { size, compressed in
        .with {
          $0.size = Int32(size)
          $0.compressed.value = compressed
        }
      }
    }
    var responses = service.streamingOutputCall(request).makeAsyncIterator()
    for (size, compressed) in wanted {
      let response = try await responses.next()
      try expect(response?.payload.body.count, size, "the size of a response")
      try expect(responses.lastWasCompressed, compressed, "whether a response was compressed")
    }
    try expect(try await responses.next() == nil, true, "whether the stream ended")
  }

  func pingPong() async throws {
    let call = service.makeFullDuplexCallCall()
    var responses = call.responseStream.makeAsyncIterator()
    for (request, response) in zip(Self.requestSizes, Self.responseSizes) {
      try await call.requestStream.send(try .answered(with: [response], payload: request))
      try expect(try await responses.next()?.payload.body.count, response, "the size of a response")
    }
    call.requestStream.finish()
    try expect(try await responses.next() == nil, true, "whether the stream ended")
    try expect(await call.status.code, .ok, "the status")
  }

  func emptyStream() async throws {
    let call = service.makeFullDuplexCallCall()
    call.requestStream.finish()
    for try await _ in call.responseStream { throw Unexpected(description: "a response without a request") }
    try expect(await call.status.code, .ok, "the status")
  }

  func cancelAfterBegin() async throws {
    let call = service.makeStreamingInputCallCall()
    call.cancel()
    try expect(await call.status.code, .cancelled, "the status")
  }

  func cancelAfterFirstResponse() async throws {
    let call = service.makeFullDuplexCallCall()
    var responses = call.responseStream.makeAsyncIterator()
    try await call.requestStream.send(try .answered(with: [31_415], payload: 27_182))
    try expect(try await responses.next()?.payload.body.count, 31_415, "the size of the response")
    call.cancel()
    try expect(await call.status.code, .cancelled, "the status")
  }

  func timeoutOnSleepingServer() async throws {
    let call = service.makeFullDuplexCallCall(callOptions: CallOptions(timeout: .milliseconds(1)))
    // The deadline may expire before this is written.
    try? await call.requestStream.send(try .answered(with: [], payload: 27_182))
    try expect(await call.status.code, .deadlineExceeded, "the status")
  }
}

extension Grpc_Testing_StreamingOutputCallRequest {
  /// A request for responses of these sizes.
  static func answered(with sizes: [Int], payload: Int) throws -> Self {
    try .with {
      $0.responseParameters = sizes.map { size in .with { $0.size = Int32(size) } }
      $0.payload = try .zeros(Int32(payload))
    }
  }
}
