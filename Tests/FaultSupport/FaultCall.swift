import InteropService
import Switchboard

/// The four kinds of call.
package enum CallKind: String, CaseIterable, Sendable {
  case unary, serverStream, clientStream, bidi
}

/// A call of gRPC's test service. Each message is larger than a frame; streams have several.
package struct FaultCall: Sendable {
  package static let messages = 3
  package static let payload = 100_000

  package let kind: CallKind
  private let client: Grpc_Testing_TestServiceClient

  package init(_ kind: CallKind, on channel: Channel) {
    self.kind = kind
    client = Grpc_Testing_TestServiceClient(channel: channel)
  }

  /// Makes the call. Throws its status, or `DATA_LOSS` if the response is wrong.
  package func make(_ options: CallOptions = CallOptions()) async throws {
    switch kind {
    case .unary:
      let response = try await client.unaryCall(simple, callOptions: options)
      try check(response.payload.body.count == Self.payload)
    case .serverStream:
      var count = 0
      for try await response in client.streamingOutputCall(output(Self.messages), callOptions: options) {
        count += 1
        try check(response.payload.body.count == Self.payload)
      }
      try check(count == Self.messages)
    case .clientStream:
      let requests = repeatElement(input, count: Self.messages)
      let response = try await client.streamingInputCall(requests, callOptions: options)
      try check(Int(response.aggregatedPayloadSize) == Self.messages * Self.payload)
    case .bidi:
      try await converse(options)
    }
  }

  /// Returns the status of the call.
  package func outcome(_ options: CallOptions = CallOptions()) async -> GRPCStatus {
    do {
      try await make(options)
      return .ok
    } catch {
      return GRPCStatus(describing: error)
    }
  }

  private func converse(_ options: CallOptions) async throws {
    let call = client.makeFullDuplexCallCall(callOptions: options)
    var responses = call.responseStream.makeAsyncIterator()
    for _ in 0..<Self.messages {
      try await call.requestStream.send(output(1))
      try check(try await responses.next()?.payload.body.count == Self.payload)
    }
    call.requestStream.finish()
    try check(try await responses.next() == nil)
  }

  private var body: Grpc_Testing_Payload {
    .with { $0.body = [UInt8](repeating: 7, count: Self.payload) }
  }

  private var simple: Grpc_Testing_SimpleRequest {
    .with {
      $0.payload = body
      $0.responseSize = Int32(Self.payload)
    }
  }

  private var input: Grpc_Testing_StreamingInputCallRequest { .with { $0.payload = body } }

  private func output(_ responses: Int) -> Grpc_Testing_StreamingOutputCallRequest {
    .with {
      $0.payload = body
      $0.responseParameters = Array(
        repeating: .with { $0.size = Int32(Self.payload) },
        count: responses
      )
    }
  }

  private func check(_ isRight: Bool) throws {
    guard !isRight else { return }
    throw GRPCStatus(code: .dataLoss, message: "what came is not what was asked for")
  }
}

extension Channel {
  /// Returns the status of the smallest call.
  package func ping(_ options: CallOptions = CallOptions()) async -> GRPCStatus {
    do {
      let client = Grpc_Testing_TestServiceClient(channel: self)
      _ = try await client.emptyCall(Grpc_Testing_Empty(), callOptions: options)
      return .ok
    } catch {
      return GRPCStatus(describing: error)
    }
  }
}

extension CallOptions {
  /// Waits for a connection without a time limit.
  package static let patient = CallOptions.with { $0.waitForReady = true }
}
