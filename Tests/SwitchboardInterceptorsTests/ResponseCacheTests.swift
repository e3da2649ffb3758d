import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

@testable import SwitchboardInterceptors

@Suite(.timeLimit(.minutes(5))) struct ResponseCacheTests {
  private func options(_ cache: ResponseCache, _ metadata: HPACKHeaders = [:]) -> CallOptions {
    var options = CallOptions()
    options.interceptorFactories = [cache]
    options.safety = .cacheableRequest
    options.initialMetadata = metadata
    return options
  }

  @Test func theSameRequestIsAnsweredFromTheCacheForAWhile() async throws {
    let provider = TestProvider()
    let clock = TestClock()
    let cache = try ResponseCache(lifetime: .seconds(60), now: clock.now)
    try await withEcho(provider) { client async throws in
      let options = options(cache)
      for _ in 0..<3 { #expect(try await client.get(request("x"), callOptions: options).text == "x") }
      #expect(provider.calls == 1)
      #expect(try await client.get(request("y"), callOptions: options).text == "y")
      #expect(provider.calls == 2)
      clock.advance(by: .seconds(60))
      #expect(try await client.get(request("x"), callOptions: options).text == "x")
      #expect(provider.calls == 3)
    }
  }

  @Test func onlyCacheableRequestsAreCached() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache()
    try await withEcho(provider) { client async throws in
      var options = options(cache)
      for safety in [RequestOptions.Safety.default, .idempotentRequest] {
        options.safety = safety
        for _ in 0..<2 { _ = try await client.get(request("x"), callOptions: options) }
      }
    }
    #expect(provider.calls == 4)
    #expect(cache.count == 0)
  }

  @Test func failuresAreNotKept() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache()
    try await withEcho(provider) { client async throws in
      for _ in 0..<2 {
        let failure = await status { _ = try await client.get(request("fail"), callOptions: options(cache)) }
        #expect(failure?.code == .notFound)
      }
    }
    #expect(provider.calls == 2)
  }

  /// A server tells apart what people see as the same text.
  @Test func metadataOfOtherBytesIsOther() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache(variesBy: ["user"])
    try await withEcho(provider) { client async throws in
      for user in ["Jos\u{e9}", "Jose\u{301}"] {
        _ = try await client.get(request("x"), callOptions: options(cache, ["user": user]))
      }
    }
    #expect(provider.calls == 2)
  }

  /// Who calls may be in any field.
  @Test func allMetadataIsInTheKey() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache()
    try await withEcho(provider) { client async throws in
      func get(_ metadata: HPACKHeaders, _ calls: Int) async throws {
        _ = try await client.get(request("x"), callOptions: options(cache, metadata))
        #expect(provider.calls == calls, "\(metadata)")
      }
      for (user, calls) in [("ada", 1), ("grace", 2), ("ada", 2)] { try await get(["tenant": user], calls) }
      for (user, calls) in [("ada", 3), ("grace", 4), ("ada", 4)] {
        try await get(["authorization": user], calls)
      }
      // The order of fields of one name counts, and no other.
      try await get(["a": "1", "b": "2", "a": "3"], 5)
      try await get(["b": "2", "a": "1", "a": "3"], 5)
      try await get(["b": "2", "a": "3", "a": "1"], 6)
      // A trace is another in each call.
      for id in ["1", "2"] { try await get(["tracestate": id, "tenant": "ada"], 6) }
    }
  }

  @Test func ofFieldsThatAreNamedNoOthersCount() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache(variesBy: ["User"])
    try await withEcho(provider) { client async throws in
      for (user, id) in [("ada", "1"), ("ada", "2"), ("grace", "3")] {
        let metadata: HPACKHeaders = ["user": user, "request-id": id, "authorization": id]
        _ = try await client.get(request("x"), callOptions: options(cache, metadata))
      }
    }
    #expect(provider.calls == 2)
  }

  /// The token itself is not known where the key is made.
  @Test func tokensThatAreAddedBelowTheCacheCount() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache()
    let tokens = ["ada", "grace"].map { user in AccessTokens { AccessToken(user) } }
    for (user, calls) in [(0, 1), (1, 2), (0, 2)] {
      try await withEcho(provider, client: [cache, AccessTokenInterceptors(tokens[user])]) {
        client async throws in
        _ = try await client.get(request("x"), callOptions: .with { $0.safety = .cacheableRequest })
        #expect(provider.calls == calls)
      }
    }
  }

  private struct Safe: CallHandlerProvider {
    static let get = MethodDescriptor(
      service: "test.Safe",
      method: "Get",
      type: .unary,
      idempotency: .noSideEffects
    )
    var serviceName: String { "test.Safe" }
    var methodHandlers: [MethodHandler] { [Self.get.bytes.unaryHandler { request, _ in request }] }
  }

  /// Such as one that buys something.
  @Test func aMethodThatIsCachedByAClientsDefaultIsNamed() async throws {
    let entries = LogEntries()
    var channelOptions = ChannelOptions()
    channelOptions.logger = Logger(entries, minimumLevel: .warning)
    channelOptions.interceptorFactories = [try ResponseCache()]
    let providers: [any CallHandlerProvider] = [TestProvider(), Safe()]
    try await withChannel(try Channel(inProcess: providers, channelOptions: channelOptions)) {
      channel async throws in
      let cacheable = CallOptions.with { $0.safety = .cacheableRequest }
      let client = Echo_EchoClient(channel: channel)
      for _ in 0..<2 { _ = try await client.get(request("a"), callOptions: cacheable) }
      let safe = MethodClient(channel: channel, defaultCallOptions: cacheable)
      for _ in 0..<2 { _ = try await safe.call(Safe.get.bytes).unary([1]) }
      let careless = Echo_EchoClient(channel: channel, defaultCallOptions: cacheable)
      _ = try await careless.get(request("b"))
      for _ in 0..<2 { _ = try await careless.get(request("b"), callOptions: cacheable) }
      #expect(entries.all.isEmpty)
      for options in [nil, CallOptions(timeout: .seconds(100)), nil] {
        _ = try await careless.get(request("b"), callOptions: options)
      }
    }
    #expect(entries.all.map(\.metadata["method"]) == ["/echo.Echo/Get"])
    #expect(
      entries.all.first?.message.contains("its client's defaultCallOptions say that all calls may be") == true
    )
  }

  /// Whoever forgets what allows it would see no difference.
  @Test func aCacheThatCachesNothingSaysSo() async throws {
    func call(_ count: Int, _ options: CallOptions, on client: Echo_EchoClient) async throws {
      for _ in 0..<count { _ = try await client.get(request("x"), callOptions: options) }
    }
    func check(_ options: CallOptions, _ reason: String?) async throws {
      let entries = LogEntries()
      var channelOptions = ChannelOptions()
      channelOptions.logger = Logger(entries, minimumLevel: .warning)
      channelOptions.interceptorFactories = [try ResponseCache()]
      let channel = try Channel(inProcess: [TestProvider()], channelOptions: channelOptions)
      try await withChannel(channel) { channel async throws in
        let client = Echo_EchoClient(channel: channel)
        try await call(19, options, on: client)
        #expect(entries.all.isEmpty)
        try await call(30, options, on: client)
      }
      let expected = reason.map { ["a ResponseCache has cached nothing so far: \($0)"] } ?? []
      #expect(entries.all.map(\.message) == expected)
    }
    struct Tokens: AuthTokenProvider {
      func token() async throws -> String? { "ada" }
    }
    try await check(CallOptions(), "no call has the safety .cacheableRequest in its options")
    try await check(
      .with { ($0.safety, $0.authTokenProvider) = (.cacheableRequest, Tokens()) },
      "calls have an authTokenProvider, whose token is not known here; see variesBy"
    )
    try await check(.with { $0.safety = .cacheableRequest }, nil)
  }

  /// A number of each call in its metadata would keep all calls apart, without a sign.
  @Test(
    arguments: [
      (nil, "x-request-id", true), (["accept-language"], "x-request-id", false),
      (nil, "authorization", false),
    ] as [([String]?, String, Bool)]
  )
  func aCacheThatAnswersNothingSaysWhatKeepsCallsApart(_ fields: [String]?, _ name: String, _ warns: Bool)
    async throws
  {
    let entries = LogEntries()
    var channelOptions = ChannelOptions()
    channelOptions.logger = Logger(entries, minimumLevel: .warning)
    let cache = try ResponseCache(variesBy: fields)
    let channel = try Channel(inProcess: [TestProvider()], channelOptions: channelOptions)
    try await withChannel(channel) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      for number in 0..<1001 {
        if number == 999 { #expect(entries.all.isEmpty) }
        let options = options(cache, [name: "\(number)", "accept-language": "en"])
        _ = try await client.get(request("x"), callOptions: options)
      }
    }
    #expect(
      entries.all.map { $0.message.hasPrefix("a ResponseCache has answered no call so far") }
        == (warns ? [true] : [])
    )
    #expect(entries.all.first?.metadata["fields"] == (warns ? name : nil))
  }

  /// Nothing is wrong with a cache whose first calls all ask for something else.
  @Test func requestsThatDifferAreNoMistake() async throws {
    let entries = LogEntries()
    var channelOptions = ChannelOptions()
    channelOptions.logger = Logger(entries, minimumLevel: .warning)
    let cache = try ResponseCache(capacity: 2000)
    let channel = try Channel(inProcess: [TestProvider()], channelOptions: channelOptions)
    try await withChannel(channel) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      for number in 0..<1001 { _ = try await client.get(request("\(number)"), callOptions: options(cache)) }
    }
    #expect(entries.all.isEmpty)
  }

  /// Tokens in the options are added below all interceptors.
  @Test func responsesAreNotSharedBetweenTokens() async throws {
    struct Tokens: AuthTokenProvider {
      func token() async throws -> String? { "ada" }
    }
    let provider = TestProvider()
    let cache = try ResponseCache()
    try await withEcho(provider) { client async throws in
      var options = options(cache)
      for (token, calls) in [("ada", 1), ("grace", 2), ("ada", 2), (nil, 3)] as [(String?, Int)] {
        options.oauth2AccessToken = token
        _ = try await client.get(request("x"), callOptions: options)
        #expect(provider.calls == calls)
      }
      options.authTokenProvider = Tokens()
      for calls in 4...5 {
        _ = try await client.get(request("x"), callOptions: options)
        #expect(provider.calls == calls)
      }
      #expect(cache.count == 3)
    }
  }

  @Test func serversAndAuthoritiesHaveSeparateEntries() async throws {
    let (providers, cache) = ([TestProvider(), TestProvider()], try ResponseCache())
    try await withServers(providers.map { [$0] }) { _, addresses async throws in
      try await withPool(try ChannelPool()) { pool async throws in
        for address in addresses {
          var options = options(cache)
          options.security = .plaintext
          let client = Echo_EchoClient(host: "\(address)", options: options, pool: pool)
          for authority in [nil, "other.test", nil] {
            options.serverAuthority = authority
            _ = try await client.get(request("x"), callOptions: options)
          }
        }
      }
    }
    #expect(providers.map(\.calls) == [2, 2])
  }

  @Test func theLeastRecentlyUsedIsEvicted() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache(capacity: 2)
    try await withEcho(provider) { client async throws in
      for text in ["a", "b", "a", "c", "a"] {
        _ = try await client.get(request(text), callOptions: options(cache))
      }
      #expect(provider.calls == 3)
      #expect(cache.count == 2)
      _ = try await client.get(request("b"), callOptions: options(cache))
      #expect(provider.calls == 4)
      cache.removeAll()
      _ = try await client.get(request("b"), callOptions: options(cache))
      #expect(provider.calls == 5)
    }
  }

  @Test func streamsAreNotCached() async throws {
    let provider = TestProvider()
    let cache = try ResponseCache()
    try await withEcho(provider) { client async throws in
      for _ in 0..<2 {
        for try await _ in client.expand(request("a"), callOptions: options(cache)) {}
      }
    }
    #expect(provider.calls == 2)
  }

  @Test func everyNumberHasARule() {
    let limits = ResponseCache.Limits(capacity: 1, lifetime: .seconds(1))
    #expect(OptionWalk.ruled(ResponseCache.Limits.self) == OptionWalk.numbers(in: limits))
  }

  /// Each number at -1, 0, 1 and its maximum is refused with an error that names it, or calls work.
  @Test(arguments: OptionWalk.samples(of: ResponseCache.Limits(capacity: 1, lifetime: .seconds(1))))
  func aNumberIsRefusedOrWorks(_ sample: OptionSample<ResponseCache.Limits>) async throws {
    let limits = sample.options
    let cache: ResponseCache
    do throws(GRPCStatus) {
      cache = try ResponseCache(capacity: limits.capacity, lifetime: limits.lifetime, now: TestClock().now)
    } catch {
      #expect(sample.isRefused(by: error), "\(error)")
      return
    }
    let provider = TestProvider()
    try await withEcho(provider) { client async throws in
      for _ in 0..<2 {
        #expect(try await client.get(request("x"), callOptions: options(cache)).text == "x")
      }
    }
    #expect(provider.calls == (limits.capacity > 0 && limits.lifetime > .zero ? 1 : 2))
  }
}
