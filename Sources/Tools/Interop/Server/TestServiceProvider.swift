import InteropService
import Switchboard

/// The service of the interoperability tests, as gRPC's test descriptions specify it.
struct TestServiceProvider: Grpc_Testing_TestServiceProvider {
  var interceptors: Interceptors? { nil }

  /// Verifies the tokens of callers; `nil` if anybody may call.
  let tokens: TokenVerifier?
  let identity: ServerIdentity

  func emptyCall(request: Grpc_Testing_Empty, context: ServerCallContext) async throws -> Grpc_Testing_Empty {
    try await context.behave(as: identity.hostname)
    sendMetadata(context, hasName: true)
    return Grpc_Testing_Empty()
  }

  func unaryCall(
    request: Grpc_Testing_SimpleRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_SimpleResponse {
    sendMetadata(context)
    try await context.behave(as: identity.hostname)
    try check(
      request.hasExpectCompressed ? request.expectCompressed.value : nil,
      context.requestWasCompressed
    )
    try end(request.hasResponseStatus, request.responseStatus)
    if request.hasResponseCompressed, request.responseCompressed.value { context.setCompression(.gzip) }
    var response = Grpc_Testing_SimpleResponse()
    (response.serverID, response.hostname) = (identity.id, identity.hostname)
    response.payload = try .zeros(request.responseSize)
    if request.fillUsername || request.fillOauthScope, let holder = try tokens?.holder(of: context.headers) {
      if request.fillUsername { response.username = holder.name }
      if request.fillOauthScope { response.oauthScope = holder.scope }
    }
    sendMetadata(context, hasName: true)
    return response
  }

  /// Responds with the time, so that equal responses come from a cache.
  func cacheableUnaryCall(
    request: Grpc_Testing_SimpleRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_SimpleResponse {
    context.setInitialMetadata(["cache-control": "max-age=60, public"])
    return .with { $0.payload.body = Array("\(ContinuousClock.now)".utf8) }
  }

  func streamingOutputCall(
    request: Grpc_Testing_StreamingOutputCallRequest,
    responseStream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    context: ServerCallContext
  ) async throws {
    if request.responseParameters.contains(where: \.compressed.value) { context.setCompression(.gzip) }
    try await send(request.responseParameters, responseStream)
    try end(request.hasResponseStatus, request.responseStatus)
  }

  func streamingInputCall(
    requestStream: RequestStream<Grpc_Testing_StreamingInputCallRequest>,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_StreamingInputCallResponse {
    var size = 0
    var requests = requestStream.makeAsyncIterator()
    while let request = try await requests.next() {
      try check(
        request.hasExpectCompressed ? request.expectCompressed.value : nil,
        requests.lastWasCompressed
      )
      size += request.payload.body.count
    }
    return .with { $0.aggregatedPayloadSize = Int32(clamping: size) }
  }

  func fullDuplexCall(
    requestStream: RequestStream<Grpc_Testing_StreamingOutputCallRequest>,
    responseStream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    context: ServerCallContext
  ) async throws {
    sendMetadata(context)
    for try await request in requestStream {
      try end(request.hasResponseStatus, request.responseStatus)
      try await send(request.responseParameters, responseStream)
    }
  }

  func halfDuplexCall(
    requestStream: RequestStream<Grpc_Testing_StreamingOutputCallRequest>,
    responseStream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    context: ServerCallContext
  ) async throws {
    var parameters: [Grpc_Testing_ResponseParameters] = []
    for try await request in requestStream {
      parameters += request.responseParameters
      guard parameters.count <= 10_000 else {
        throw GRPCStatus(code: .resourceExhausted, message: "the responses are too large to send at the end")
      }
    }
    try await send(parameters, responseStream)
  }

  func unimplementedCall(
    request: Grpc_Testing_Empty,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_Empty {
    throw GRPCStatus(code: .unimplemented, message: "no server implements this method")
  }

  // MARK: -

  private func send(
    _ parameters: [Grpc_Testing_ResponseParameters],
    _ stream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>
  ) async throws {
    for parameter in parameters {
      if parameter.intervalUs > 0 { try await Task.sleep(for: .microseconds(parameter.intervalUs)) }
      let response = try Grpc_Testing_StreamingOutputCallResponse.with {
        $0.payload = try .zeros(parameter.size)
      }
      try await stream.send(response, compress: parameter.compressed.value)
    }
  }

  /// Echoes the metadata that the client asks for, before the first response and in the trailers, and says which server this
  /// is. A call that fails must not have the name: clients do not repeat calls that were answered by metadata.
  private func sendMetadata(_ context: ServerCallContext, hasName: Bool = false) {
    let initial = "x-grpc-test-echo-initial"
    let trailing = "x-grpc-test-echo-trailing-bin"
    var metadata = HPACKHeaders()
    if hasName { metadata.add(name: "hostname", value: identity.hostname) }
    if let value = context.headers.first(name: initial) { metadata.add(name: initial, value: value) }
    if !metadata.isEmpty { context.setInitialMetadata(metadata) }
    let values = context.headers[binary: trailing]
    guard !values.isEmpty else { return }
    var trailers = HPACKHeaders()
    for value in values { trailers.add(name: trailing, binary: value) }
    context.setTrailers(trailers)
  }

  private func check(_ expected: Bool?, _ wasCompressed: Bool) throws {
    guard let expected, expected != wasCompressed else { return }
    throw GRPCStatus(
      code: .invalidArgument,
      message: expected ? "the request was not compressed" : "the request was compressed"
    )
  }

  private func end(_ isAsked: Bool, _ status: Grpc_Testing_EchoStatus) throws {
    guard isAsked, status.code != 0 else { return }
    throw GRPCStatus(code: GRPCStatus.Code(rawValue: Int(status.code)) ?? .unknown, message: status.message)
  }
}

extension Grpc_Testing_Payload {
  /// A payload with the requested number of bytes, up to a limit.
  static func zeros(_ count: Int32) throws -> Grpc_Testing_Payload {
    guard (0...64 << 20).contains(count) else {
      throw GRPCStatus(code: .invalidArgument, message: "cannot send a payload of \(count) bytes")
    }
    return .with { $0.body = [UInt8](repeating: 0, count: Int(count)) }
  }
}
