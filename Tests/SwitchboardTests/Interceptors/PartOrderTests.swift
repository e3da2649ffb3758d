import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// Interceptors that forward parts out of order: no part of a request reaches a handler before the metadata.
@Suite(.timeLimit(.minutes(5))) struct PartOrderTests {
  private final class Dropper: ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
    override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
      if case .message = part { return }
      context.receive(part)
    }
  }

  @Test func aResponseThatIsNotPassedOn() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client { [Dropper()] }
      let awaited = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      let call = client.makeGetCall(Echo_EchoRequest("x"))
      for status in [awaited, await call.status] {
        #expect(status?.code == .unimplemented)
        #expect(status?.message?.contains("an interceptor of the client did not pass it on") == true)
      }
    }
  }

  private enum Kind: CaseIterable {
    case unary, serverStreaming, clientStreaming, bidirectional
  }

  /// Holds the metadata back until the end has passed, as an interceptor that authenticates the caller may do by
  /// mistake.
  private final class Holder: ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
    private let log: Log
    private let releases: Bool

    init(_ log: Log, releases: Bool) {
      self.log = log
      self.releases = releases
    }

    override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
      switch part {
      case .metadata(let headers):
        let (releases, log) = (releases, log)
        // Streamed requests arrive only if they are requested.
        context.receiveNextMessages(10)
        context.eventLoop.execute {
          context.eventLoop.execute {
            log.note("decided")
            if releases {
              var headers = headers
              headers.add(name: "who", value: "checked")
              context.receive(.metadata(headers))
            } else {
              context.send(.end(GRPCStatus(code: .unauthenticated), HPACKHeaders()), promise: nil)
            }
          }
        }
      case .message, .end:
        log.note("passed")
        context.receive(part)
      }
    }
  }

  private static func call(_ kind: Kind, _ client: Echo_EchoClient) async throws -> String {
    switch kind {
    case .unary: try await client.get(Echo_EchoRequest("x")).text
    case .serverStreaming: try await client.expand(Echo_EchoRequest("x")).collected().map(\.text).joined()
    case .clientStreaming: try await client.collect([Echo_EchoRequest("x")]).text
    case .bidirectional: try await client.update([Echo_EchoRequest("x")]).collected().map(\.text).joined()
    }
  }

  @Test(arguments: Kind.allCases) private func handlersWaitForMetadata(_ kind: Kind) async throws {
    let log = Log()
    let provider = NamingProvider(log) { [Holder(log, releases: true)] }
    try await NamingProvider.with(provider) { client async throws in
      #expect(try await Self.call(kind, client) == "checked")
    }
    let decided = try #require(log.lines.firstIndex(of: "decided"))
    #expect(try #require(log.lines.firstIndex(of: "handler")) > decided)
    if kind == .unary || kind == .serverStreaming {
      #expect(try #require(log.lines.lastIndex(of: "passed")) < decided)
    }
  }

  @Test(arguments: Kind.allCases) private func noHandlerRunsForARejectedCall(_ kind: Kind) async throws {
    let log = Log()
    let provider = NamingProvider(log) { [Holder(log, releases: false)] }
    try await NamingProvider.with(provider) { client async throws in
      #expect(await status { _ = try await Self.call(kind, client) }?.code == .unauthenticated)
    }
    #expect(log.lines.contains("decided"))
    #expect(!log.lines.contains("handler"))
  }

  /// Metadata after the end starts the handler again; without it, later parts belong to no call.
  @Test func partsAfterAnEndBelongToNoCall() async throws {
    let log = Log()
    let provider = NamingProvider(log) {
      [
        ServerHook(receive: { part, context in
          context.receive(part)
          guard case .end = part else { return }
          context.receive(.message(Echo_EchoRequest("again")))
          context.receive(.end)
        })
      ]
    }
    try await NamingProvider.with(provider) { client async throws in
      #expect(try await client.get(Echo_EchoRequest("x")).text == "nobody")
    }
    #expect(log.lines == ["handler"])
  }

  @Test func responseMetadataAfterAMessageIsAnError() async throws {
    let provider = NamingProvider(Log()) {
      [
        ServerHook(send: { part, promise, context in
          context.send(part, promise: promise)
          if case .message = part { context.send(.metadata(["late": "1"]), promise: nil) }
        })
      ]
    }
    try await NamingProvider.with(provider) { client async throws in
      let unary = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      #expect(unary?.message == "interceptors: the metadata was sent after a message")
      let stream = await status { _ = try await client.expand(Echo_EchoRequest("x")).collected() }
      #expect(stream?.code == .internalError)
    }
  }

  @Test func aSecondEndOfOneRequestSaysSo() async throws {
    let provider = NamingProvider(Log()) { [] }
    let hook: @Sendable () -> [EchoClientInterceptor] = {
      [
        ClientHook(send: { part, promise, context in
          context.send(part, promise: promise)
          if case .end = part { context.send(.end, promise: nil) }
        })
      ]
    }
    try await NamingProvider.with(provider, client: hook) { client async throws in
      let unary = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      #expect(unary?.message == "interceptors (ClientHook): the requests had been ended already")
      #expect(try await client.collect([Echo_EchoRequest("x")]).text == "nobody")
    }
  }

  @Test func messagesBeforeTheMetadataFailACallOnTheClient() async throws {
    let provider = NamingProvider(Log()) { [] }
    let hook: @Sendable () -> [EchoClientInterceptor] = {
      [
        ClientHook(send: { part, promise, context in
          if case .metadata = part { return }
          context.send(part, promise: promise)
        })
      ]
    }
    try await NamingProvider.with(provider, client: hook) { client async throws in
      for kind in Kind.allCases {
        #expect(await status { _ = try await Self.call(kind, client) }?.code == .internalError)
      }
    }
  }
}

/// Answers with the metadata `who`.
private struct NamingProvider: Echo_EchoProvider {
  let log: Log
  let interceptors: (any Echo_EchoServerInterceptorFactoryProtocol)?

  init(_ log: Log, _ make: @escaping @Sendable () -> [EchoServerInterceptor]) {
    self.log = log
    interceptors = ServerFactory(make: make)
  }

  static func with(
    _ provider: NamingProvider,
    client make: (@Sendable () -> [EchoClientInterceptor])? = nil,
    _ body: (Echo_EchoClient) async throws -> Void
  ) async throws {
    try await withChannel(to: [provider]) { channel async throws in
      try await body(
        Echo_EchoClient(channel: channel, interceptors: make.map { ClientFactory(make: $0) })
      )
    }
  }

  private func answer(_ context: ServerCallContext) -> Echo_EchoResponse {
    log.note("handler")
    return .with { $0.text = context.headers["who"].first ?? "nobody" }
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    answer(context)
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    try await responseStream.send(answer(context))
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    for try await _ in requestStream {}
    return answer(context)
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for try await _ in requestStream {}
    try await responseStream.send(answer(context))
  }
}
