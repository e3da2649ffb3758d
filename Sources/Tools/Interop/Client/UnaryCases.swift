import InteropService
import Switchboard
import SwitchboardInterceptors

extension InteropClient {
  func emptyUnary() async throws {
    try expect(try await service.emptyCall(Grpc_Testing_Empty()), Grpc_Testing_Empty(), "the response")
  }

  func largeUnary() async throws {
    try await largeUnary(on: service)
  }

  /// Makes one unary call with the sizes in the descriptions.
  func largeUnary(
    on service: Grpc_Testing_TestServiceClient,
    requestSize: Int = 271_828,
    responseSize: Int = 314_159,
    _ change: (inout Grpc_Testing_SimpleRequest) -> Void = { _ in },
    options: CallOptions? = nil
  ) async throws {
    let request = try Self.request(requestSize, responseSize, change)
    let response = try await service.unaryCall(request, callOptions: options)
    try expect(response.payload.body.count, responseSize, "the size of the response's payload")
  }

  static func request(
    _ requestSize: Int = 271_828,
    _ responseSize: Int = 314_159,
    _ change: (inout Grpc_Testing_SimpleRequest) -> Void = { _ in }
  ) throws -> Grpc_Testing_SimpleRequest {
    try .with {
      $0.responseSize = Int32(clamping: responseSize)
      $0.payload = try .zeros(Int32(clamping: requestSize))
      change(&$0)
    }
  }

  /// A cache answers the second of two equal calls. The server responds with the time, so the responses are equal only
  /// if the server got one call.
  func cacheableUnary() async throws {
    var options = CallOptions(initialMetadata: metadata)
    options.interceptorFactories = [try ResponseCache()]
    options.safety = .cacheableRequest
    let request = try Self.request()
    let first = try await service.cacheableUnaryCall(request, callOptions: options)
    let second = try await service.cacheableUnaryCall(request, callOptions: options)
    try expect(first.payload.body.isEmpty, false, "whether the response is empty")
    try expect(second, first, "the response from the cache")
  }

  func clientCompressedUnary() async throws {
    // A server that ignores the flag would not notice the wrong one in this request.
    let probe = try await failure("a request with a wrong compression flag") {
      try await largeUnary(on: service) { $0.expectCompressed.value = true }
    }
    try expect(probe.code, .invalidArgument, "the status of the probe")
    try await largeUnary(
      on: service,
      { $0.expectCompressed.value = true },
      options: CallOptions(compression: .gzip)
    )
    try await largeUnary(on: service) { $0.expectCompressed.value = false }
  }

  func serverCompressedUnary() async throws {
    for compressed in [true, false] {
      let request = try Self.request { $0.responseCompressed.value = compressed }
      let call = service.makeUnaryCallCall(request)
      try expect(try await call.response.payload.body.count, 314_159, "the size of the response's payload")
      try expect(try await call.responseWasCompressed, compressed, "whether the response was compressed")
    }
  }

  func customMetadata() async throws {
    let initial = (name: "x-grpc-test-echo-initial", value: "test_initial_metadata_value")
    let trailing = (name: "x-grpc-test-echo-trailing-bin", value: [0xab, 0xab, 0xab] as [UInt8])
    var metadata = metadata
    metadata.add(name: initial.name, value: initial.value)
    metadata.add(name: trailing.name, binary: trailing.value)
    let options = CallOptions(initialMetadata: metadata)

    let unary = service.makeUnaryCallCall(try Self.request(), callOptions: options)
    try expect(try await unary.response.payload.body.count, 314_159, "the size of the response's payload")
    try expect(
      try await unary.initialMetadata[initial.name],
      [initial.value],
      "the initial metadata of the unary call"
    )
    try expect(
      try await unary.trailingMetadata[binary: trailing.name],
      [trailing.value],
      "the trailers of the unary call"
    )

    let duplex = service.makeFullDuplexCallCall(callOptions: options)
    try await duplex.requestStream.send(try .answered(with: [314_159], payload: 271_828))
    duplex.requestStream.finish()
    for try await response in duplex.responseStream {
      try expect(response.payload.body.count, 314_159, "the size of the response's payload")
    }
    try expect(
      try await duplex.initialMetadata[initial.name],
      [initial.value],
      "the initial metadata of the stream"
    )
    try expect(
      try await duplex.trailingMetadata[binary: trailing.name],
      [trailing.value],
      "the trailers of the stream"
    )
  }

  func statusCodeAndMessage() async throws {
    try await endWith("test status message", streaming: true)
  }

  func specialStatusMessage() async throws {
    try await endWith(
      "\t\ntest with whitespace\r\nand Unicode BMP \u{263A} and non-BMP \u{1F608}\t\n",
      streaming: false
    )
  }

  private func endWith(_ message: String, streaming: Bool) async throws {
    let wanted = GRPCStatus(code: .unknown, message: message)
    let requested = Grpc_Testing_EchoStatus.with {
      $0.code = Int32(wanted.code.rawValue)
      $0.message = message
    }
    let unary = try await failure("the unary call") {
      _ = try await service.unaryCall(.with { $0.responseStatus = requested })
    }
    try expect(unary, wanted, "the status of the unary call")
    guard streaming else { return }
    let stream = try await failure("the stream") {
      for try await _ in service.fullDuplexCall([.with { $0.responseStatus = requested }]) {}
    }
    try expect(stream, wanted, "the status of the stream")
  }

  func unimplementedMethod() async throws {
    let status = try await failure("a method that no server implements") {
      _ = try await service.unimplementedCall(Grpc_Testing_Empty())
    }
    try expect(status.code, .unimplemented, "the status")
  }

  func unimplementedService() async throws {
    let client = Grpc_Testing_UnimplementedServiceClient(channel: service.channel)
    let status = try await failure("a service that no server implements") {
      _ = try await client.unimplementedCall(Grpc_Testing_Empty())
    }
    try expect(status.code, .unimplemented, "the status")
  }

  func concurrentLargeUnary() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<scale.concurrentCalls { group.addTask { try await largeUnary() } }
      try await group.waitForAll()
    }
  }

  /// All calls use the same server, because there is only one address.
  func pickFirstUnary() async throws {
    for _ in 0..<20 {
      _ = try await service.unaryCall(.with { $0.fillServerID = true })
    }
  }

  /// Makes a call, lets the connection idle, and makes another call on the same channel.
  func longLivedChannel() async throws {
    try await largeUnary()
    try await Task.sleep(for: scale.idle)
    try await largeUnary()
  }

  // MARK: Against a server that violates HTTP/2 on purpose

  /// A server that resets a stream before sending a status fails the call, whatever it sent before. A call that fails
  /// for another reason proves nothing.
  func failsByReset() async throws {
    let status = try await failure("a call that the server resets") { try await largeUnary() }
    try expect(status.code, .internalError, "the code of \(status)")
  }

  /// Makes one call to learn the server's limit, and then more concurrent calls than the limit allows.
  func maxStreams() async throws {
    try await largeUnary()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { try await largeUnary() } }
      try await group.waitForAll()
    }
  }
}
