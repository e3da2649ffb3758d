import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import Testing

/// Guards, the generated interceptors of a service, and servers that require some.
@Suite(.timeLimit(.minutes(5))) struct GuardTests {
  private struct KeyGuard: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {
      guard headers.first(name: "key") == "secret" else {
        throw GRPCStatus(code: .unauthenticated, message: "a key is required")
      }
    }
  }

  /// Has the interceptors that it is given.
  private struct GuardedEcho: EchoingProvider {
    var interceptors: Interceptors?
  }

  private final class Stamp: EchoServerInterceptor {}
  private protocol Stamping {}
  private final class AnyStamp<Request: Sendable, Response: Sendable>:
    ServerInterceptor<Request, Response>, Stamping
  {}

  private struct AnyStamps: ServerInterceptorFactory {
    func makeServerInterceptors<Request: Sendable, Response: Sendable>(
      for method: MethodDescriptor
    ) -> [ServerInterceptor<Request, Response>] { [AnyStamp()] }
  }

  // MARK: Guards

  @Test func aGuardOfAServiceRefusesCallsOfAllItsMethods() async throws {
    let provider = GuardedEcho(interceptors: Echo_EchoServerInterceptors(KeyGuard()))
    let client = Echo_EchoClient(channel: try Channel(inProcess: [provider]))
    let request = Echo_EchoRequest("x")
    let statuses = [
      await status { _ = try await client.get(request) },
      await status { _ = try await client.expand(request).collected() },
      await status { _ = try await client.collect([request]) },
      await status { _ = try await client.update([request]).collected() },
    ]
    for status in statuses {
      #expect(status == GRPCStatus(code: .unauthenticated, message: "a key is required"))
    }
    let options = CallOptions(initialMetadata: ["key": "secret"])
    #expect(try await client.get(request, callOptions: options).text == "x")
    #expect(try await client.expand(request, callOptions: options).collected().count == 1)
    #expect(try await client.collect([request], callOptions: options).text == "x")
    #expect(try await client.update([request], callOptions: options).collected().count == 1)
    await client.channel.shutDown(grace: .zero)
  }

  @Test func aGuardOfAServerRefusesCalls() async throws {
    var options = ServerOptions()
    options.interceptorFactories = [KeyGuard()]
    let client = Echo_EchoClient(channel: try Channel(inProcess: [GuardedEcho()], options: options))
    #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unauthenticated)
    await client.channel.shutDown(grace: .zero)
  }

  private struct Marking: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) {
      call.setInitialMetadata(["guard": "1"])
      call.setTrailers(["guard": "2"])
    }
  }

  private struct Marked: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.setInitialMetadata(["handler": "3"])
      context.setTrailers(["handler": "4"])
      return .with { $0.text = request.text }
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func whatAGuardSetsIsSentWithWhatTheHandlerSets(_ wire: Wire)
    async throws
  {
    var options = ServerOptions()
    options.interceptorFactories = [Marking()]
    try await withChannel(to: [Marked()], over: wire, options: options) { channel async throws in
      let call = Echo_EchoClient(channel: channel).makeGetCall(Echo_EchoRequest("x"))
      let (initial, trailing) = (try await call.initialMetadata, try await call.trailingMetadata)
      #expect([initial["guard"], initial["handler"]] == [["1"], ["3"]])
      #expect([trailing["guard"], trailing["handler"]] == [["2"], ["4"]])
    }
  }

  // MARK: Generated interceptors

  @Test func interceptorsOfAllMethodsPrecedeThoseOfOne() async throws {
    let log = Log()
    let server = Echo_EchoServerInterceptors(
      NamingFactory(name: "server 1", log: log),
      NamingFactory(name: "server 2", log: log),
      get: { [NamingServerInterceptor("server's get", log)] },
      update: { [NamingServerInterceptor("server's update", log)] }
    )
    let client = Echo_EchoClient(
      channel: try Channel(inProcess: [GuardedEcho(interceptors: server)]),
      interceptors: Echo_EchoClientInterceptors(
        NamingFactory(name: "client", log: log),
        get: { [NamingClientInterceptor("client's get", log)] }
      )
    )
    _ = try await client.get(Echo_EchoRequest("x"))
    _ = try await client.collect([Echo_EchoRequest("x")])
    let get = ["client", "client's get", "server 1", "server 2", "server's get"].map { "\($0) Get" }
    let collect = ["client", "server 1", "server 2"].map { "\($0) Collect" }
    let back = get.reversed().map { "< \($0)" } + collect.map { "> \($0)" }
    #expect(log.lines == get.map { "> \($0)" } + back + collect.reversed().map { "< \($0)" })
    await client.channel.shutDown(grace: .zero)
  }

  // MARK: Requirements

  @Test func aServerDoesNotStartWithoutARequiredInterceptor() throws {
    let provider = GuardedEcho(
      interceptors: Echo_EchoServerInterceptors(get: { [Stamp()] }, collect: { [Stamp(), Stamp()] })
    )
    let message = "requiredInterceptors: /echo.Echo/Expand lacks Stamp; /echo.Echo/Update lacks Stamp"
    #expect(throws: GRPCStatus(code: .failedPrecondition, message: message)) {
      try start([provider], [Stamp.self])
    }
    #expect(throws: GRPCStatus(code: .failedPrecondition, message: message)) {
      var options = ServerOptions()
      options.requiredInterceptors = [Stamp.self]
      _ = try Channel(inProcess: [provider], options: options)
    }
    let others = ["/echo.Echo/Expand", "/echo.Echo/Update"]
    try start([provider], RequiredInterceptors([Stamp.self], except: others))
  }

  @Test func guardsAndProtocolsAreRequiredToo() throws {
    let guarded = GuardedEcho(interceptors: Echo_EchoServerInterceptors(KeyGuard()))
    let stamped = GuardedEcho(interceptors: Echo_EchoServerInterceptors(AnyStamps()))
    try start([guarded], [KeyGuard.self])
    try start([stamped], [(any Stamping).self])
    try start([GuardedEcho()], [KeyGuard.self], [KeyGuard()])
    #expect(throws: GRPCStatus.self) { try start([stamped], [KeyGuard.self]) }
    #expect(throws: GRPCStatus.self) { try start([guarded], [(any Stamping).self]) }
    #expect(throws: GRPCStatus.self) { try start([guarded], [KeyGuard.self, (any Stamping).self]) }
    try start([stamped], [KeyGuard.self, (any Stamping).self], [KeyGuard()])
    try start([GuardedEcho()], [])
  }

  @Test func aServiceIsExcepted() throws {
    let guarded = GuardedEcho(interceptors: Echo_EchoServerInterceptors(KeyGuard()))
    let check = CodableMethod<String, String>("probes.Health", "Check", .unary)
    let health = ServiceHandlers(
      ServiceDescriptor("probes.Health", [check.descriptor]),
      [check.unaryHandler { name, _ in name }]
    )
    let providers: [any CallHandlerProvider] = [guarded, health]
    #expect(throws: GRPCStatus.self) { try start(providers, [KeyGuard.self]) }
    try start(providers, RequiredInterceptors([KeyGuard.self], except: ["probes.Health"]))
    let message = "requiredInterceptors: there is no probes.Helth to except"
    #expect(throws: GRPCStatus(code: .failedPrecondition, message: message)) {
      try start([guarded], RequiredInterceptors([KeyGuard.self], except: ["probes.Helth"]))
    }
  }

  /// An exception says what need not have the interceptor, and takes it from nothing.
  @Test func anExceptionThatIsGuarded() throws {
    let warnings = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(warnings, minimumLevel: .warning)
    options.interceptorFactories = [KeyGuard()]
    options.requiredInterceptors = RequiredInterceptors([KeyGuard.self], except: ["/echo.Echo/Get"])
    _ = try Server(providers: [GuardedEcho()], options: options)
    #expect(warnings.all.count == 1)
    let entry = warnings.all.first
    #expect(entry?.message.contains("excepts methods that have a required interceptor nevertheless") == true)
    #expect(entry?.metadata["methods"] == "/echo.Echo/Get")
  }

  /// What every interceptor is, or none, says nothing about which there are.
  @Test func typesThatRequireNothingAreRefused() throws {
    let guarded = GuardedEcho(interceptors: Echo_EchoServerInterceptors(KeyGuard()))
    let types: [any Any.Type] = [
      ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse>.self, Any.self, AnyObject.self,
      (any Sendable).self,
      (any ServerGuard).self, (any ServerInterceptorFactory).self,
    ]
    for type in types {
      let failure = #expect(throws: GRPCStatus.self) { try start([guarded], RequiredInterceptors([type])) }
      #expect(failure?.code == .invalidArgument)
      #expect(failure?.message?.hasSuffix("such as KeyGuard.self") == true, "\(type)")
    }
    let factory = #expect(throws: GRPCStatus.self) { try start([guarded], [AnyStamps.self]) }
    #expect(factory?.message?.contains("name the class of those that it makes") == true)
  }

  private func start(
    _ providers: [any CallHandlerProvider],
    _ required: RequiredInterceptors,
    _ factories: [any ServerInterceptorFactory] = []
  ) throws {
    var options = ServerOptions()
    options.requiredInterceptors = required
    options.interceptorFactories = factories
    _ = try Server(providers: providers, options: options)
  }
}
