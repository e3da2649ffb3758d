import InteropService
import Switchboard

/// Implements gRPC's test service up to one point of each call, and blocks there until the call is cancelled.
package final class LingeringProvider: Grpc_Testing_TestServiceProvider {
  package var interceptors: Interceptors? { nil }

  package enum Point: Sendable {
    /// After reading the requests.
    case request
    case beforeAnswer
    case afterMetadata
    case afterFirstResponse
    /// Does not block.
    case none
  }

  /// The state of the handlers.
  package struct Handlers: Sendable {
    package var lingering = 0
    package var released = 0
    package var failedReads = 0
  }

  private struct State {
    var handlers = Handlers()
    var waiters: [(condition: @Sendable (Handlers) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
      []
  }

  private let point: Point
  private let state = Locked(State())

  package init(_ point: Point) { self.point = point }

  package var handlers: Handlers { state.withLock { $0.handlers } }

  package func until(_ condition: @escaping @Sendable (Handlers) -> Bool) async {
    await withCheckedContinuation { continuation in
      let holds = state.withLock { state in
        if condition(state.handlers) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if holds { continuation.resume() }
    }
  }

  private func note(_ change: (inout Handlers) -> Void) {
    let due = state.withLock { state in
      change(&state.handlers)
      let handlers = state.handlers
      defer { state.waiters.removeAll { $0.condition(handlers) } }
      return state.waiters.filter { $0.condition(handlers) }.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  private func linger(at point: Point, _ context: ServerCallContext) async throws {
    guard point == self.point else { return }
    if point == .afterMetadata { context.sendInitialMetadata() }
    note { $0.lingering += 1 }
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    // Ends only when the task is cancelled.
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
    note { $0.released += 1 }
    throw CancellationError()
  }

  private func lingerBeforeAnswer(_ context: ServerCallContext) async throws {
    try await linger(at: .beforeAnswer, context)
    try await linger(at: .afterMetadata, context)
  }

  /// Counts errors thrown by reading: that is how a handler that waits for requests learns that the client is gone.
  private func reading<Result>(_ body: () async throws -> Result) async throws -> Result {
    do { return try await body() } catch {
      note { $0.failedReads += 1 }
      throw error
    }
  }

  // MARK: The service

  package func unaryCall(
    request: Grpc_Testing_SimpleRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_SimpleResponse {
    try await lingerBeforeAnswer(context)
    return .with { $0.payload.body = [UInt8](repeating: 0, count: Int(request.responseSize)) }
  }

  package func streamingOutputCall(
    request: Grpc_Testing_StreamingOutputCallRequest,
    responseStream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    context: ServerCallContext
  ) async throws {
    try await lingerBeforeAnswer(context)
    try await answer(request, responseStream, context)
  }

  package func streamingInputCall(
    requestStream: RequestStream<Grpc_Testing_StreamingInputCallRequest>,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_StreamingInputCallResponse {
    try await lingerBeforeAnswer(context)
    let size = try await reading {
      var size = 0
      for try await request in requestStream { size += request.payload.body.count }
      return size
    }
    return .with { $0.aggregatedPayloadSize = Int32(size) }
  }

  package func fullDuplexCall(
    requestStream: RequestStream<Grpc_Testing_StreamingOutputCallRequest>,
    responseStream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    context: ServerCallContext
  ) async throws {
    try await lingerBeforeAnswer(context)
    var requests = requestStream.makeAsyncIterator()
    while let request = try await reading({ try await requests.next() }) {
      try await answer(request, responseStream, context)
    }
  }

  private func answer(
    _ request: Grpc_Testing_StreamingOutputCallRequest,
    _ responses: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    _ context: ServerCallContext
  ) async throws {
    for parameter in request.responseParameters {
      let body = [UInt8](repeating: 0, count: Int(parameter.size))
      try await responses.send(.with { $0.payload.body = body })
      try await linger(at: .afterFirstResponse, context)
    }
  }

  package func emptyCall(
    request: Grpc_Testing_Empty,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_Empty { Grpc_Testing_Empty() }

  package func cacheableUnaryCall(
    request: Grpc_Testing_SimpleRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_SimpleResponse { try await unaryCall(request: request, context: context) }

  package func halfDuplexCall(
    requestStream: RequestStream<Grpc_Testing_StreamingOutputCallRequest>,
    responseStream: ResponseStreamWriter<Grpc_Testing_StreamingOutputCallResponse>,
    context: ServerCallContext
  ) async throws {
    try await fullDuplexCall(
      requestStream: requestStream,
      responseStream: responseStream,
      context: context
    )
  }

  package func unimplementedCall(
    request: Grpc_Testing_Empty,
    context: ServerCallContext
  ) async throws -> Grpc_Testing_Empty { throw GRPCStatus(code: .unimplemented) }
}
