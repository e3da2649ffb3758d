import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// Where interceptors come from, and in which order.
@Suite(.timeLimit(.minutes(5))) struct ScopeTests {
  @Test func theClientsScopesAreInOrder() async throws {
    let log = Log()
    var channelOptions = ChannelOptions()
    channelOptions.interceptorFactories = [NamingFactory(name: "channel", log: log)]
    channelOptions.interceptorRegistry = try registry(NamingFactory(name: "registry", log: log))
    try await withChannel(try Channel(inProcess: [TutorialProvider()], channelOptions: channelOptions)) {
      channel async throws in
      var options = CallOptions()
      options.interceptorFactories = [
        NamingFactory(name: "call 1", log: log), NamingFactory(name: "call 2", log: log),
      ]
      let client = Echo_EchoClient(
        channel: channel,
        interceptors: ClientFactory { [NamingClientInterceptor("method", log)] }
      )
      _ = try await client.get(Echo_EchoRequest("x"), callOptions: options)
      let names = ["call 1", "call 2", "method", "channel", "registry"]
      #expect(log.lines == names.map { "> \($0) Get" } + names.reversed().map { "< \($0) Get" })
    }
  }

  @Test func aCallsFactoriesReplaceTheClients() async throws {
    let log = Log()
    try await withChannel(try Channel(inProcess: [TutorialProvider()])) { channel async throws in
      var options = CallOptions()
      options.interceptorFactories = [NamingFactory(name: "client", log: log)]
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: options)
      _ = try await client.get(Echo_EchoRequest("x"))
      _ = try await client.collect([Echo_EchoRequest("x")])
      _ = try await client.expand(Echo_EchoRequest("x")).collected()
      _ = try await client.update([Echo_EchoRequest("x")]).collected()
      options.interceptorFactories = []
      _ = try await client.get(Echo_EchoRequest("x"), callOptions: options)
      options.interceptorFactories = [NamingFactory(name: "call", log: log)]
      _ = try await client.get(Echo_EchoRequest("x"), callOptions: options)
      let methods = ["Get", "Collect", "Expand", "Update"]
      #expect(
        log.lines.filter { $0.hasPrefix(">") } == methods.map { "> client \($0)" } + ["> call Get"]
      )
    }
  }

  @Test func theServersScopesAreInOrder() async throws {
    let log = Log()
    var options = ServerOptions()
    options.interceptorFactories = [NamingFactory(name: "server", log: log)]
    options.interceptorRegistry = try registry(NamingFactory(name: "registry", log: log))
    let factory = ServerFactory { [NamingServerInterceptor("method", log)] }
    try await withChannel(try Channel(inProcess: [TutorialProvider(interceptors: factory)], options: options))
    { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      let names = ["registry", "server", "method"]
      _ = try await client.get(Echo_EchoRequest("x"))
      _ = try await client.collect([Echo_EchoRequest("x")])
      _ = try await client.expand(Echo_EchoRequest("x")).collected()
      _ = try await client.update([Echo_EchoRequest("x")]).collected()
      #expect(
        log.lines
          == ["Get", "Collect", "Expand", "Update"].flatMap { method in
            names.map { "> \($0) \(method)" } + names.reversed().map { "< \($0) \(method)" }
          }
      )
    }
  }

  @Test func aServersFactoriesServeCallsOverTheNetwork() async throws {
    let log = Log()
    var options = ServerOptions()
    options.interceptorFactories = [NamingFactory(name: "server", log: log)]
    var channelOptions = ChannelOptions()
    channelOptions.interceptorFactories = [NamingFactory(name: "channel", log: log)]
    let provider = TutorialProvider()
    try await withChannel(to: [provider], options: options, channel: channelOptions) { channel async throws in
      _ = try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest("x"))
      #expect(log.lines == ["> channel Get", "> server Get", "< server Get", "< channel Get"])
    }
  }

  @Test func aRegistryIsFrozenByItsFirstUser() throws {
    let log = Log()
    let registry = InterceptorRegistry()
    #expect(!registry.isFrozen)
    try registry.register(NamingFactory(name: "early", log: log))
    var options = ChannelOptions()
    options.interceptorRegistry = registry
    _ = try Channel(inProcess: [], channelOptions: options)
    #expect(registry.isFrozen)
    #expect(throws: GRPCStatus.self) { try registry.register(NamingFactory(name: "late", log: log)) }
    #expect(registry.factories.client.count == 1)
    #expect(registry.factories.server.count == 1)
  }

  @Test func theProcessRegistryIsUsedOnlyIfOptionsNameIt() throws {
    _ = try Channel(inProcess: [TutorialProvider()])
    _ = try Server(providers: [TutorialProvider()])
    #expect(!InterceptorRegistry.process.isFrozen)
    #expect(InterceptorRegistry.process.factories.client.isEmpty)
    #expect(InterceptorRegistry.process.factories.server.isEmpty)
  }

  @Test func aFactoryOfOneSideIsRegisteredForThatSide() throws {
    let factory = NamingFactory(name: "either", log: Log())
    let registry = InterceptorRegistry()
    try registry.register(client: factory)
    #expect(registry.factories.server.isEmpty)
    try registry.register(server: factory)
    #expect(registry.factories.client.count == 1)
    #expect(registry.factories.server.count == 1)
  }

  private func registry(_ factory: NamingFactory) throws -> InterceptorRegistry {
    let registry = InterceptorRegistry()
    try registry.register(factory)
    return registry
  }
}
