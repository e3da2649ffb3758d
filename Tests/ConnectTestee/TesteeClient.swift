import ConnectConformanceService
import Switchboard
import SwitchboardProtobuf
import SwitchboardServices

/// The client under test: makes one call.
struct TesteeClient {
  typealias Request = Connectrpc_Conformance_V1_ClientCompatRequest
  typealias Response = Connectrpc_Conformance_V1_ClientCompatResponse
  typealias Outcome = Connectrpc_Conformance_V1_ClientResponseResult
  typealias Payload = Connectrpc_Conformance_V1_ConformancePayload

  let request: Request
  let client: Connectrpc_Conformance_V1_ConformanceServiceClient
  let options: CallOptions

  static func respond(to request: Request, on loops: LoopGroup) async -> Response {
    var response = Response.with { $0.testName = request.testName }
    do {
      let channel = try channel(request, loops)
      let client = Connectrpc_Conformance_V1_ConformanceServiceClient(channel: channel)
      response.response = try await TesteeClient(request: request, client: client, options: options(request))
        .run()
      await channel.shutDown(grace: .zero)
    } catch {
      response.error = .with { $0.message = "\(error)" }
    }
    return response
  }

  private static func channel(_ request: Request, _ loops: LoopGroup) throws -> Channel {
    var options = ChannelOptions()
    options.enableRetry = false
    options.wireProtocol =
      switch request.protocol {
      case .connect: .connect
      case .grpcWeb: .grpcWeb
      default: .grpc
      }
    options.httpVersion = request.httpVersion == .httpVersion1 ? .http1 : .negotiated
    options.connectGet = request.useGetHTTPMethod
    options.maxMetadataSize = 64 * 1024
    if request.messageReceiveLimit > 0 { options.responseSizeLimit = Int(request.messageReceiveLimit) }
    if !request.serverTlsCert.isEmpty {
      options.security = .tls(
        ClientTLS(
          trustRoots: .bytes(request.serverTlsCert),
          credentials: request.hasClientTlsCreds ? TLSCredentials(request.clientTlsCreds) : nil
        )
      )
    }
    return try Channel.connect(host: request.host, port: Int(request.port), options: options, group: loops)
  }

  private static func options(_ request: Request) throws -> CallOptions {
    var options = CallOptions(
      timeout: request.hasTimeoutMs ? .milliseconds(request.timeoutMs) : nil,
      initialMetadata: HPACKHeaders(request.requestHeaders),
      compression: try compression(request.compression)
    )
    options.payloadFormat = request.codec == .json ? PayloadChoice(.conformance) : .protobuf
    return options
  }

  private static func compression(_ name: Connectrpc_Conformance_V1_Compression) throws -> MessageCompression
  {
    switch name {
    case .unspecified, .identity: .none
    case .gzip: .gzip
    case .br: .brotli
    case .zstd: .zstd
    case .deflate: .deflate
    default: throw GRPCStatus(code: .invalidArgument, message: "unknown compression")
    }
  }

  private func run() async throws -> Outcome {
    switch request.method {
    case "Unary":
      try await unary {
        client.makeUnaryCall($0, callOptions: options)
      } payload: {
        $0.payload
      }
    case "IdempotentUnary":
      try await unary {
        client.makeIdempotentUnaryCall($0, callOptions: options)
      } payload: {
        $0.payload
      }
    case "Unimplemented":
      try await unary {
        client.makeUnimplementedCall($0, callOptions: options)
      } payload: { _ in
        nil
      }
    case "ServerStream": try await serverStream()
    case "ClientStream": try await clientStream()
    case "BidiStream": try await bidiStream()
    default: throw GRPCStatus(code: .invalidArgument, message: "unknown method")
    }
  }

  private func requests<Message: SwitchboardProtobuf.Message>(of type: Message.Type) throws -> [Message] {
    try request.requestMessages.map { try $0.unpack() }
  }

  private func onlyRequest<Message: SwitchboardProtobuf.Message>() throws -> Message {
    let all = try requests(of: Message.self)
    guard all.count == 1, let message = all.first else {
      throw GRPCStatus(code: .invalidArgument, message: "such a call has one request")
    }
    return message
  }

  // MARK: The kinds of calls

  private func unary<Message: SwitchboardProtobuf.Message, Answer: SwitchboardProtobuf.Message>(
    _ start: (Message) -> AsyncUnaryCall<Answer>,
    payload: (Answer) -> Payload?
  ) async throws -> Outcome {
    let call = start(try onlyRequest())
    try await cancelAfterSending(call)
    var outcome = Outcome()
    if let payload = (try? await call.response).flatMap(payload) { outcome.payloads = [payload] }
    await end(call, &outcome)
    return outcome
  }

  private func serverStream() async throws -> Outcome {
    let call = client.makeServerStreamCall(try onlyRequest(), callOptions: options)
    try await cancelAfterSending(call)
    var outcome = Outcome()
    try? await receive(call, call.responseStream, &outcome) { $0.payload }
    await end(call, &outcome)
    return outcome
  }

  private func clientStream() async throws -> Outcome {
    let call = client.makeClientStreamCall(callOptions: options)
    var outcome = Outcome()
    let requests = try requests(of: Connectrpc_Conformance_V1_ClientStreamRequest.self)
    for (index, message) in requests.enumerated() {
      try await pause(request.requestDelayMs)
      do {
        try await call.requestStream.send(message)
      } catch {
        outcome.numUnsentRequests = Int32(clamping: requests.count - index)
        break
      }
    }
    try await finish(call) { call.requestStream.finish() }
    if let response = try? await call.response { outcome.payloads = [response.payload] }
    await end(call, &outcome)
    return outcome
  }

  private func bidiStream() async throws -> Outcome {
    let call = client.makeBidiStreamCall(callOptions: options)
    var outcome = Outcome()
    var responses = call.responseStream.makeAsyncIterator()
    let requests = try requests(of: Connectrpc_Conformance_V1_BidiStreamRequest.self)
    for (index, message) in requests.enumerated() {
      try await pause(request.requestDelayMs)
      do {
        try await call.requestStream.send(message)
      } catch {
        outcome.numUnsentRequests = Int32(clamping: requests.count - index)
        break
      }
      guard request.streamType == .fullDuplexBidiStream else { continue }
      guard let response = try? await responses.next() else { break }
      note(response.payload, call, &outcome)
    }
    try await finish(call) { call.requestStream.finish() }
    while let response = try? await responses.next() { note(response.payload, call, &outcome) }
    await end(call, &outcome)
    return outcome
  }

  // MARK: What they have in common

  private func pause(_ milliseconds: UInt32) async throws {
    if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
  }

  /// Ends the requests, and cancels the call before or after if the test wants it.
  private func finish(_ call: some AsyncCall, _ finish: () -> Void) async throws {
    if request.hasCancel, case .beforeCloseSend? = request.cancel.cancelTiming { return call.cancel() }
    finish()
    try await cancelAfterSending(call)
  }

  private func cancelAfterSending(_ call: some AsyncCall) async throws {
    guard request.hasCancel else { return }
    switch request.cancel.cancelTiming {
    case .afterCloseSendMs(let time)?: try await pause(time)
    case nil: break
    case .beforeCloseSend, .afterNumResponses: return
    }
    call.cancel()
  }

  private func receive<Answer>(
    _ call: some AsyncCall,
    _ responses: ResponseStream<Answer>,
    _ outcome: inout Outcome,
    payload: (Answer) -> Payload
  ) async throws {
    for try await response in responses { note(payload(response), call, &outcome) }
  }

  private func note(_ payload: Payload, _ call: some AsyncCall, _ outcome: inout Outcome) {
    outcome.payloads.append(payload)
    guard request.hasCancel, case .afterNumResponses(let count)? = request.cancel.cancelTiming else { return }
    if outcome.payloads.count == count { call.cancel() }
  }

  /// Tells the metadata and the status.
  private func end(_ call: some AsyncCall, _ outcome: inout Outcome) async {
    let status = await call.status
    outcome.responseHeaders = (try? await call.initialMetadata)?.conformance ?? []
    outcome.responseTrailers = (try? await call.trailingMetadata)?.conformance ?? []
    guard !status.isOk else { return }
    outcome.error = .with {
      $0.code = Connectrpc_Conformance_V1_Code(rawValue: status.code.rawValue) ?? .unknown
      $0.message = status.message ?? ""
      $0.details = (try? status.richStatus)??.details ?? []
    }
  }
}
