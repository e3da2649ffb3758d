import ConnectConformanceService
import Switchboard
import SwitchboardProtobuf
import SwitchboardServices

/// The suite's service: it responds as the first request says, and tells what it saw of the call.
struct ConformanceProvider: Connectrpc_Conformance_V1_ConformanceServiceProvider {
  var interceptors: Interceptors? { nil }

  typealias Payload = Connectrpc_Conformance_V1_ConformancePayload
  typealias Single = Connectrpc_Conformance_V1_UnaryResponseDefinition
  typealias Stream = Connectrpc_Conformance_V1_StreamResponseDefinition

  func unary(
    request: Connectrpc_Conformance_V1_UnaryRequest,
    context: ServerCallContext
  ) async throws -> Connectrpc_Conformance_V1_UnaryResponse {
    let payload = try await respond(
      request.responseDefinition,
      [try Google_Protobuf_Any(message: request)],
      context
    )
    return .with { $0.payload = payload }
  }

  func idempotentUnary(
    request: Connectrpc_Conformance_V1_IdempotentUnaryRequest,
    context: ServerCallContext
  ) async throws -> Connectrpc_Conformance_V1_IdempotentUnaryResponse {
    let payload = try await respond(
      request.responseDefinition,
      [try Google_Protobuf_Any(message: request)],
      context
    )
    return .with { $0.payload = payload }
  }

  func unimplemented(
    request: Connectrpc_Conformance_V1_UnimplementedRequest,
    context: ServerCallContext
  ) async throws -> Connectrpc_Conformance_V1_UnimplementedResponse {
    throw GRPCStatus(code: .unimplemented, message: "no server implements this method")
  }

  func clientStream(
    requestStream: RequestStream<Connectrpc_Conformance_V1_ClientStreamRequest>,
    context: ServerCallContext
  ) async throws -> Connectrpc_Conformance_V1_ClientStreamResponse {
    var definition: Single?
    var requests: [Google_Protobuf_Any] = []
    for try await request in requestStream {
      if definition == nil { definition = request.responseDefinition }
      requests.append(try Google_Protobuf_Any(message: request))
    }
    let payload = try await respond(definition ?? Single(), requests, context)
    return .with { $0.payload = payload }
  }

  func serverStream(
    request: Connectrpc_Conformance_V1_ServerStreamRequest,
    responseStream: ResponseStreamWriter<Connectrpc_Conformance_V1_ServerStreamResponse>,
    context: ServerCallContext
  ) async throws {
    let definition = request.responseDefinition
    let requests = [try Google_Protobuf_Any(message: request)]
    setMetadata(definition, context)
    if !definition.responseData.isEmpty { context.sendInitialMetadata() }
    for (index, data) in definition.responseData.enumerated() {
      try await wait(definition.responseDelayMs)
      let payload = payload(data, index == 0 ? info(requests, context) : nil)
      try await responseStream.send(.with { $0.payload = payload })
    }
    guard definition.hasError else { return }
    throw try status(definition.error, definition.responseData.isEmpty ? info(requests, context) : nil)
  }

  func bidiStream(
    requestStream: RequestStream<Connectrpc_Conformance_V1_BidiStreamRequest>,
    responseStream: ResponseStreamWriter<Connectrpc_Conformance_V1_BidiStreamResponse>,
    context: ServerCallContext
  ) async throws {
    var first: Connectrpc_Conformance_V1_BidiStreamRequest?
    var requests: [Google_Protobuf_Any] = []
    var sent = 0
    for try await request in requestStream {
      requests.append(try Google_Protobuf_Any(message: request))
      if first == nil {
        first = request
        setMetadata(request.responseDefinition, context)
        if request.fullDuplex, !request.responseDefinition.responseData.isEmpty {
          context.sendInitialMetadata()
        }
      }
      guard let first, first.fullDuplex else { continue }
      let data = first.responseDefinition.responseData
      guard sent < data.count else { break }
      try await wait(first.responseDefinition.responseDelayMs)
      let seen = sent == 0 ? info(requests, context) : .with { $0.requests = requests }
      let payload = payload(data[sent], seen)
      try await responseStream.send(.with { $0.payload = payload })
      sent += 1
      requests = []
    }
    guard let definition = first?.responseDefinition else { return }
    if sent == 0, !definition.responseData.isEmpty { context.sendInitialMetadata() }
    for data in definition.responseData.dropFirst(sent) {
      try await wait(definition.responseDelayMs)
      let payload = payload(data, sent == 0 ? info(requests, context) : nil)
      try await responseStream.send(.with { $0.payload = payload })
      sent += 1
    }
    guard definition.hasError else { return }
    throw try status(definition.error, sent == 0 ? info(requests, context) : nil)
  }

  // MARK: -

  private func respond(
    _ definition: Single,
    _ requests: [Google_Protobuf_Any],
    _ context: ServerCallContext
  ) async throws -> Payload {
    context.setInitialMetadata(HPACKHeaders(definition.responseHeaders))
    context.setTrailers(HPACKHeaders(definition.responseTrailers))
    let seen = info(requests, context)
    try await wait(definition.responseDelayMs)
    if case .error(let error)? = definition.response { throw try status(error, seen) }
    return payload(definition.responseData, seen)
  }

  private func setMetadata(_ definition: Stream, _ context: ServerCallContext) {
    context.setInitialMetadata(HPACKHeaders(definition.responseHeaders))
    context.setTrailers(HPACKHeaders(definition.responseTrailers))
  }

  private func wait(_ milliseconds: UInt32) async throws {
    if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
  }

  private func payload(_ data: [UInt8], _ info: Payload.RequestInfo?) -> Payload {
    .with {
      $0.data = data
      if let info { $0.requestInfo = info }
    }
  }

  private func info(_ requests: [Google_Protobuf_Any], _ context: ServerCallContext) -> Payload.RequestInfo {
    .with {
      $0.requestHeaders = context.headers.conformance
      $0.requests = requests
      guard let deadline = context.deadline else { return }
      let left = (deadline - .now).components
      $0.timeoutMs = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
    }
  }

  /// The error, with what was seen of the call if no response has it.
  private func status(_ error: Connectrpc_Conformance_V1_Error, _ info: Payload.RequestInfo?) throws
    -> GRPCStatus
  {
    var details = error.details
    if let info { details.append(try Google_Protobuf_Any(message: info)) }
    return try GRPCStatus(
      .with {
        $0.code = Int32(clamping: error.code.rawValue)
        $0.message = error.message
        $0.details = details
      }
    )
  }
}

extension HPACKHeaders {
  init(_ headers: [Connectrpc_Conformance_V1_Header]) {
    self.init(headers.flatMap { header in header.value.map { (header.name.lowercased(), $0) } })
  }

  /// The values of a name together.
  var conformance: [Connectrpc_Conformance_V1_Header] {
    Set(map(\.0)).sorted().map { name in
      .with {
        $0.name = name
        $0.value = self[name]
      }
    }
  }
}
