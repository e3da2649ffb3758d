import CallTestSupport
import EchoService
import Switchboard
import SwitchboardInterceptors
import Testing

typealias EchoUnaryRequest = UnaryRequest<Echo_EchoRequest>
typealias EchoUnaryResponse = UnaryResponse<Echo_EchoResponse>
typealias EchoStreamedRequest = StreamedRequest<Echo_EchoRequest>
typealias EchoStreamedResponse = StreamedResponse<Echo_EchoResponse>

/// Whole-call interceptors made of closures.
final class ClientCallHook: ClientCallInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
  typealias Unary = @Sendable (EchoUnaryRequest, EchoClientContext, Next) async throws -> EchoUnaryResponse
  typealias Streamed =
    @Sendable (EchoStreamedRequest, EchoClientContext, StreamedNext) async throws ->
    EchoStreamedResponse

  private let unary: Unary?
  private let streamed: Streamed?

  init(unary: Unary? = nil, streamed: Streamed? = nil) {
    self.unary = unary
    self.streamed = streamed
    super.init()
  }

  override func intercept(
    _ request: EchoUnaryRequest,
    context: Context,
    next: Next
  ) async throws -> EchoUnaryResponse {
    if let unary { try await unary(request, context, next) } else { try await next(request) }
  }

  override func intercept(
    _ request: EchoStreamedRequest,
    context: Context,
    next: StreamedNext
  ) async throws -> EchoStreamedResponse {
    if let streamed { try await streamed(request, context, next) } else { try await next(request) }
  }
}

final class ServerCallHook: ServerCallInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
  typealias Unary = @Sendable (EchoUnaryRequest, EchoServerContext, Next) async throws -> EchoUnaryResponse
  typealias Streamed =
    @Sendable (EchoStreamedRequest, EchoServerContext, StreamedNext) async throws ->
    EchoStreamedResponse

  private let unary: Unary?
  private let streamed: Streamed?

  init(unary: Unary? = nil, streamed: Streamed? = nil) {
    self.unary = unary
    self.streamed = streamed
    super.init()
  }

  override func intercept(
    _ request: EchoUnaryRequest,
    context: Context,
    next: Next
  ) async throws -> EchoUnaryResponse {
    if let unary { try await unary(request, context, next) } else { try await next(request) }
  }

  override func intercept(
    _ request: EchoStreamedRequest,
    context: Context,
    next: StreamedNext
  ) async throws -> EchoStreamedResponse {
    if let streamed { try await streamed(request, context, next) } else { try await next(request) }
  }
}

extension Echo_EchoClient {
  /// Makes calls through one whole-call interceptor, which serves the first.
  func expectOneCall() async throws {
    #expect(try await get(Echo_EchoRequest("1")).text == "Swift echo get: 1")
    for _ in 0..<2 {
      let status = await status { _ = try await get(Echo_EchoRequest("2")) }
      #expect(status?.code == .internalError)
      #expect(status?.message?.contains("serves one call") == true)
    }
    let streamed = await status { _ = try await update([Echo_EchoRequest("3")]).collected() }
    #expect(streamed?.code == .internalError)
  }
}
