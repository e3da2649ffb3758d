import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import Synchronization
import Testing

/// A provider that rejects each call several times before it answers.
private final class FlakyProvider: Echo_EchoProvider {
  let refusals: Int
  let seen = Log()
  var interceptors: Interceptors? { nil }

  init(refusals: Int) { self.refusals = refusals }

  /// Rejects calls with too few previous attempts.
  private func admit(_ context: ServerCallContext) throws -> String {
    let attempts = context.headers.first(name: "grpc-previous-rpc-attempts") ?? "0"
    seen.note(attempts)
    guard Int(attempts) ?? 0 >= refusals else {
      context.setTrailers(["grpc-retry-pushback-ms": "0"])
      throw GRPCStatus(code: .unavailable, message: "not yet")
    }
    return attempts
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let attempts = try admit(context)
    return .with { $0.text = "\(request.text) after \(attempts)" }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    let attempts = try admit(context)
    for word in request.text.split(separator: " ") {
      try await responseStream.send(.with { $0.text = "\(word) after \(attempts)" })
    }
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    // Some requests are read before the call is rejected.
    var texts: [String] = []
    for try await request in requestStream {
      texts.append(request.text)
      if texts.count == 2 { _ = try admit(context) }
    }
    return .with { $0.text = texts.joined(separator: " ") }
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    _ = try admit(context)
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}

/// Retries between a real client and a real server, whose pushback is zero.
@Suite(.timeLimit(.minutes(5))) struct RetriedServiceTests {
  private static let config = """
    {"methodConfig": [{"name": [{"service": "echo.Echo"}], "retryPolicy": {
      "maxAttempts": 5, "initialBackoff": "100s", "maxBackoff": "100s", "backoffMultiplier": 1,
      "retryableStatusCodes": ["UNAVAILABLE"]}}]}
    """

  private func with(
    refusals: Int,
    inProcess: Bool,
    _ body: (Channel, FlakyProvider) async throws -> Void
  ) async throws {
    let provider = FlakyProvider(refusals: refusals)
    var options = ChannelOptions()
    options.serviceConfig = try ServiceConfig(json: Self.config)
    let wire = inProcess ? Wire.inProcess : .ipv4
    try await withChannel(to: [provider], over: wire, channel: options) { channel async throws in
      try await body(channel, provider)
    }
  }

  private struct Misled: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.setTrailers(["grpc-retry-pushback-ms": "250ms"])
      throw GRPCStatus(code: .unavailable, message: "not yet")
    }
  }

  /// What the channel warns of while two calls fail, which are not made again.
  private func warnings(_ provider: some EchoingProvider) async throws -> [LogEntries.Entry] {
    let warnings = LogEntries()
    var options = ChannelOptions()
    options.serviceConfig = try ServiceConfig(json: Self.config)
    options.logger = Logger(warnings, minimumLevel: .warning)
    try await withChannel(to: [provider], channel: options) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      for _ in 0..<2 {
        #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unavailable)
      }
    }
    return warnings.all
  }

  @Test func aPushbackThatIsNoNumber() async throws {
    let warnings = try await warnings(Misled())
    #expect(warnings.count == 1)
    #expect(warnings.first?.message.hasSuffix("the call is not made again") == true)
    #expect(warnings.first?.metadata["value"] == "250ms")
  }

  private struct Hasty: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.sendInitialMetadata()
      throw GRPCStatus(code: .unavailable, message: "not yet")
    }
  }

  @Test func aServerThatBeginsToAnswer() async throws {
    let warnings = try await warnings(Hasty())
    #expect(warnings.count == 1)
    #expect(warnings.first?.message.contains("the server had begun to answer") == true)
    #expect(warnings.first?.metadata["method"] == "/echo.Echo/Get")
  }

  @Test(arguments: [false, true]) func callsOfEveryKindAreRetried(_ inProcess: Bool) async throws {
    try await with(refusals: 2, inProcess: inProcess) { channel, provider async throws in
      let client = Echo_EchoClient(channel: channel)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "x after 2")
      #expect(provider.seen.lines == ["0", "1", "2"])
      let expanded = try await client.expand(Echo_EchoRequest("a b")).collected()
      #expect(expanded.map(\.text) == ["a after 2", "b after 2"])
      let words = (0..<50).map(String.init)
      let requests = words.map { Echo_EchoRequest($0) }
      #expect(try await client.collect(requests).text == words.joined(separator: " "))
      #expect(try await client.update(requests).collected().map(\.text) == words)
      #expect(provider.seen.lines.count == 12)
    }
  }

  @Test func interceptorsSeeOneCall() async throws {
    let log = Log()
    try await with(refusals: 3, inProcess: false) { channel, provider async throws in
      let factory = ClientFactory { [ClientRecorder("i", log)] }
      let client = Echo_EchoClient(channel: channel, interceptors: factory)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "x after 3")
      #expect(provider.seen.lines.count == 4)
    }
    #expect(
      log.lines == [
        "i > metadata", "i > x", "i > end", "i < metadata", "i < x after 3", "i < ok (0)",
      ]
    )
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func theFirstAnsweredHedgeWins(_ wire: Wire) async throws {
    let log = Log()
    // The first attempt is never answered; it is cancelled when another one is.
    let provider = TutorialProvider(
      interceptors: ServerFactory {
        let isFirst = Locked(false)
        return [
          ServerHook(receive: { part, context in
            if case .metadata(let headers) = part {
              let attempts = headers.first(name: "grpc-previous-rpc-attempts")
              isFirst.withLock { $0 = attempts == nil }
              log.note("attempt \(attempts ?? "0")")
            }
            if !isFirst.withLock({ $0 }) { context.receive(part) }
          }),
          ServerRecorder("s", log),
        ]
      }
    )
    let options = try CallOptions.with {
      $0.serviceConfig = try ServiceConfig(
        json: """
          {"methodConfig": [{"name": [{}], "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "0.01s"}}]}
          """
      )
    }
    try await withChannel(to: [provider], over: wire) { channel async throws in
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: options)
      let requests = ["a", "b"].map { Echo_EchoRequest($0) }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["a", "b"])
      #expect(try await client.collect(requests).text == "ab")
      #expect(try await client.update(requests).collected().map(\.text) == ["a", "b"])
      // Each of the four calls was made twice, and the unanswered attempt was cancelled.
      while !Task.isCancelled, log.lines.count(where: { $0 == "s > error cancelled (1)" }) < 4 {
        await Task.yield()
      }
    }
    #expect(
      log.lines.filter { $0.hasPrefix("attempt") }
        == Array(repeating: ["attempt 0", "attempt 1"], count: 4).flatMap(\.self)
    )
  }

  @Test func noMoreThanFiveAttemptsAreMade() async throws {
    try await with(refusals: 100, inProcess: false) { channel, provider async throws in
      let client = Echo_EchoClient(channel: channel)
      let failure = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      #expect(failure == GRPCStatus(code: .unavailable, message: "not yet"))
      #expect(provider.seen.lines == ["0", "1", "2", "3", "4"])
    }
  }

  @Test func aPooledClientsArgumentsConfigureRetries() async throws {
    let provider = FlakyProvider(refusals: 1)
    try await withServer([provider]) { _, address async throws in
      try await withPool(try ChannelPool()) { pool async throws in
        var options = CallOptions()
        options.security = .plaintext
        options.additionalChannelArgs = ["grpc.service_config": .string(Self.config)]
        let client = Echo_EchoClient(host: "\(address)", options: options, pool: pool)
        #expect(try await client.get(Echo_EchoRequest("x")).text == "x after 1")
        options.additionalChannelArgs?["grpc.enable_retries"] = false
        let refusing = Echo_EchoClient(host: "\(address)", options: options, pool: pool)
        #expect(await status { _ = try await refusing.get(Echo_EchoRequest("x")) }?.code == .unavailable)
        // A call's own choice overrides its channel's.
        let willing = CallOptions.with { $0.enableRetry = true }
        #expect(try await refusing.get(Echo_EchoRequest("x"), callOptions: willing).text == "x after 1")
      }
    }
  }
}
