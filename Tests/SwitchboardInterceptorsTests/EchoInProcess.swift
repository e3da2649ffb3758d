import EchoService
import ServerTestSupport
import Switchboard

/// A service that echoes its requests, counts them, and rejects calls without the right token.
final class TestProvider: Echo_EchoProvider {
  var interceptors: Interceptors? { nil }

  private let state = Locked((calls: 0, token: String?.none))

  var calls: Int { state.withLock { $0.calls } }

  /// The token that calls must have; `nil` if they need none.
  var token: String? {
    get { state.withLock { $0.token } }
    set { state.withLock { $0.token = newValue } }
  }

  private func admit(_ context: ServerCallContext) throws {
    let token = state.withLock { state in
      state.calls += 1
      return state.token
    }
    guard let token else { return }
    guard context.headers.first(name: "authorization") == "Bearer \(token)" else {
      throw GRPCStatus(code: .unauthenticated, message: "who?")
    }
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    try admit(context)
    if request.text == "fail" { throw GRPCStatus(code: .notFound, message: "no such text") }
    return .with { $0.text = request.text }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    try admit(context)
    for word in request.text.split(separator: " ") {
      try await responseStream.send(.with { $0.text = String(word) })
    }
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    try admit(context)
    var text = ""
    for try await request in requestStream { text += request.text }
    return .with { $0.text = text }
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    try admit(context)
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}

/// A clock that only moves when it is advanced.
final class TestClock: Sendable {
  private let time = Locked(Duration.zero)

  var now: @Sendable () -> Duration { { self.time.withLock { $0 } } }

  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

/// Makes calls to the provider within the process, with these interceptors on the client and on the server.
func withEcho(
  _ provider: TestProvider,
  client: [any ClientInterceptorFactory] = [],
  server: [any ServerInterceptorFactory] = [],
  logger: Logger = .quiet,
  _ body: (Echo_EchoClient) async throws -> Void
) async throws {
  var options = ServerOptions()
  options.interceptorFactories = server
  options.logger = logger
  try await withChannel(try Channel(inProcess: [provider], options: options)) { channel async throws in
    var callOptions = CallOptions()
    callOptions.interceptorFactories = client
    callOptions.logger = logger
    try await body(Echo_EchoClient(channel: channel, defaultCallOptions: callOptions))
  }
}

func request(_ text: String) -> Echo_EchoRequest { .with { $0.text = text } }
