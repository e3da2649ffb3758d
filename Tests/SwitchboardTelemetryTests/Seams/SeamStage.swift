import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardInterceptors
import Testing

@testable import SwitchboardTelemetry

/// Calls whose handler calls a second server, through a channel with the products under test.
final class SeamStage: Sendable {
  /// What the channel has.
  struct Setup: Sendable {
    var propagation = ContextPropagation.nothing
    var config: String?
    var options = CallOptions()
    /// The channel's interceptors, and those of the first server.
    var interceptors: [any ClientInterceptorFactory] = []
    var serverInterceptors: [any ServerInterceptorFactory] = []
    /// How the first calls end at the second server.
    var failures: [GRPCStatus.Code] = []
    /// Who calls the first server, one after the other.
    var users = ["ada"]
  }

  /// A call that has reached the second server.
  struct Arrival: Sendable {
    let text: String
    let headers: HPACKHeaders
    let deadline: ContinuousClock.Instant?
    let trace: TraceID?
    let baggage: Baggage

    var hasDeadline: Bool { deadline != nil }

    func first(_ name: String) -> String { headers.first(name: name) ?? "none" }
  }

  static let retries = """
    {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.001s",
      "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
    """
  /// Only a failure starts the second attempt.
  static let hedging = """
    {"methodConfig": [{"name": [{}], "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "1000s",
      "nonFatalStatusCodes": ["UNAVAILABLE"]}}]}
    """
  static let trace = "0af7651916cd43dd8448eb211c80319c"

  private let exporter = CapturingExporter()
  private let received = Locked<[Arrival]>([])
  private let noted = Locked<[String]>([])
  private let ends = Locked<[GRPCStatus.Code]>([])
  /// A client without interceptors, for the calls of interceptors.
  private let plain = Locked<Echo_EchoClient?>(nil)
  private let metrics = Locked<[String]>([])

  var arrivals: [Arrival] { received.withLock { $0 } }
  var notes: [String] { noted.withLock { $0 } }
  /// How the handler's calls ended.
  var codes: [GRPCStatus.Code] { ends.withLock { $0 } }
  /// The calls and attempts on the channel that were recorded.
  var spans: (calls: [SpanRecord], attempts: [SpanRecord]) {
    (
      exporter.spans.filter { $0.state.name.hasPrefix("Sent.") },
      exporter.spans.filter { $0.state.name.hasPrefix("Attempt.") }
    )
  }

  func arrived(_ name: String) -> [String] { arrivals.map { $0.first(name) } }

  /// The value of the one series whose line begins so.
  func metric(_ name: String) -> String? {
    metrics.withLock { $0 }.first { $0.hasPrefix(name) }?.split(separator: " ").last.map(String.init)
  }

  func note(_ line: String) { noted.withLock { $0.append(line) } }

  /// Makes a call of an interceptor's own.
  func callPlainly(_ text: String) async throws {
    guard let client = plain.withLock({ $0 }) else { return }
    _ = try await client.get(.with { $0.text = text })
  }

  func play(_ setup: Setup) async throws {
    let telemetry = try Telemetry.capturing(exporter)
    let observer = telemetry.observer(passingOn: setup.propagation)
    let config = try setup.config.map { try ServiceConfig(json: $0) }
    let second = SecondEcho(stage: self, failures: setup.failures)
    try await withEcho(second, server: telemetry.observer(), client: observer) { _, channel in
      channel.serviceConfig = config
      channel.interceptorFactories = setup.interceptors
    } _: { client, address in
      var options = ChannelOptions()
      options.observer = observer
      try await withChannel(to: address, options: options) { other async throws in
        plain.withLock { $0 = Echo_EchoClient(channel: other) }
        let first = FirstEcho(stage: self, next: client, options: setup.options)
        try await withEcho(first, server: telemetry.observer(), client: nil) { server, _ in
          server.interceptorFactories = setup.serverInterceptors
        } _: { client, _ in
          for user in setup.users {
            let metadata: HPACKHeaders = [
              "x-user": user, "authorization": user, "baggage": "tenant=\(user)",
              "traceparent": "00-\(Self.trace)-b7ad6b7169203331-01",
            ]
            let options = CallOptions(timeout: .seconds(200), initialMetadata: metadata)
            _ = try await client.get(.with { $0.text = "same" }, callOptions: options)
          }
        }
        plain.withLock { $0 = nil }
      }
      metrics.withLock { $0 = telemetry.lines("grpc_client_") }
    }
    await telemetry.shutDown()
  }

  fileprivate func arrive(_ arrival: Arrival) -> Int {
    received.withLock { received in
      received.append(arrival)
      return received.count - 1
    }
  }

  fileprivate func callEnded(_ code: GRPCStatus.Code) { ends.withLock { $0.append(code) } }
}

private struct FirstEcho: EchoingProvider {
  let stage: SeamStage
  let next: Echo_EchoClient
  let options: CallOptions

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let failure = await status { _ = try await next.get(request, callOptions: options) }
    stage.callEnded(failure?.code ?? .ok)
    return Echo_EchoResponse()
  }
}

private struct SecondEcho: EchoingProvider {
  let stage: SeamStage
  let failures: [GRPCStatus.Code]

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let number = stage.arrive(
      SeamStage.Arrival(
        text: request.text,
        headers: context.headers,
        deadline: context.deadline,
        trace: SpanContext.current?.traceID,
        baggage: .current
      )
    )
    if number < failures.count { throw GRPCStatus(code: failures[number]) }
    return .with { $0.text = request.text }
  }
}

// MARK: - Interceptors

/// Notes which fields it sees, and how calls end; may change the fields.
struct NotingParts: InterceptorFactory {
  let stage: SeamStage
  var name = ""
  var fields: [String] = []
  /// The timeout that it gives calls.
  var timeout: Duration?
  var change: @Sendable (inout HPACKHeaders) -> Void = { _ in }

  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [Client(self)] }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [Server(self)] }

  private func pass(_ headers: inout HPACKHeaders) {
    stage.note(([name + ">"] + fields.map { headers.first(name: $0) ?? "none" }).joined(separator: " "))
    change(&headers)
  }

  private final class Client<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response> {
    private let notes: NotingParts

    init(_ notes: NotingParts) { self.notes = notes }

    override func send(
      _ part: GRPCClientRequestPart<Request>,
      promise: EventLoopPromise<Void>?,
      context: ClientInterceptorContext<Request, Response>
    ) {
      guard case .metadata(var headers) = part else { return context.send(part, promise: promise) }
      notes.pass(&headers)
      if context.deadline != nil { notes.stage.note(notes.name + " has a deadline") }
      if let timeout = notes.timeout { context.options.timeout = timeout }
      context.send(.metadata(headers), promise: promise)
    }

    override func receive(
      _ part: GRPCClientResponsePart<Response>,
      context: ClientInterceptorContext<Request, Response>
    ) {
      if case .end(let status, _) = part { notes.stage.note("\(notes.name)< \(status.code.specName)") }
      context.receive(part)
    }
  }

  private final class Server<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response> {
    private let notes: NotingParts

    init(_ notes: NotingParts) { self.notes = notes }

    override func receive(
      _ part: GRPCServerRequestPart<Request>,
      context: ServerInterceptorContext<Request, Response>
    ) {
      guard case .metadata(var headers) = part else { return context.receive(part) }
      notes.pass(&headers)
      context.receive(.metadata(headers))
    }
  }
}

/// Does `work`, notes which fields it sees, may change them, and makes the call as often as it says.
struct NotingCalls: InterceptorFactory {
  let stage: SeamStage
  var name = ""
  var fields: [String] = []
  var times = 1
  var work: @Sendable () async throws -> Void = {}
  var change: @Sendable (inout HPACKHeaders) -> Void = { _ in }

  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [Client(self)] }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [Server(self)] }

  private func pass<Request, Response>(
    _ request: UnaryRequest<Request>,
    _ next: (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  ) async throws -> UnaryResponse<Response> {
    var request = request
    try await work()
    let seen = fields.map { request.metadata.first(name: $0) ?? "none" }
    stage.note(([name + ">"] + seen).joined(separator: " "))
    change(&request.metadata)
    for _ in 1..<times { _ = try await next(request) }
    return try await next(request)
  }

  private final class Client<Request: Sendable, Response: Sendable>: ClientCallInterceptor<Request, Response>
  {
    private let notes: NotingCalls

    init(_ notes: NotingCalls) {
      self.notes = notes
      super.init()
    }

    override func intercept(
      _ request: UnaryRequest<Request>,
      context: Context,
      next: Next
    ) async throws -> UnaryResponse<Response> { try await notes.pass(request, next) }
  }

  private final class Server<Request: Sendable, Response: Sendable>: ServerCallInterceptor<Request, Response>
  {
    private let notes: NotingCalls

    init(_ notes: NotingCalls) {
      self.notes = notes
      super.init()
    }

    override func intercept(
      _ request: UnaryRequest<Request>,
      context: Context,
      next: Next
    ) async throws -> UnaryResponse<Response> { try await notes.pass(request, next) }
  }
}
