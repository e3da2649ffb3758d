import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardInterceptors
import Testing

/// What clients and the log learn of errors that determine no status.
@Suite(.timeLimit(.minutes(5))) struct UnknownErrorTests {
  private struct Secret: Error, CustomStringConvertible {
    var description: String { "cannot open /srv/shop.db" }
  }

  private struct Known: GRPCStatusTransformable {
    func makeGRPCStatus() -> GRPCStatus { GRPCStatus(code: .notFound, message: "sold out") }
  }

  /// Fails all calls with an error.
  private struct Failing: Echo_EchoProvider {
    var error: any Error = Secret()
    var interceptors: Interceptors?

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      throw error
    }

    func expand(
      request: Echo_EchoRequest,
      responseStream: ResponseStreamWriter<Echo_EchoResponse>,
      context: ServerCallContext
    ) async throws { throw error }

    func collect(
      requestStream: RequestStream<Echo_EchoRequest>,
      context: ServerCallContext
    ) async throws -> Echo_EchoResponse { throw error }

    func update(
      requestStream: RequestStream<Echo_EchoRequest>,
      responseStream: ResponseStreamWriter<Echo_EchoResponse>,
      context: ServerCallContext
    ) async throws { throw error }
  }

  private struct SecretGuard: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws { throw Secret() }
  }

  private static let fixed = GRPCStatus(
    code: .unknown,
    message: "the call failed in the server, whose log says why"
  )

  /// The statuses of one call of each kind.
  private func statuses(
    of provider: any CallHandlerProvider,
    over wire: Wire,
    _ options: ServerOptions
  ) async throws -> [GRPCStatus?] {
    var statuses: [GRPCStatus?] = []
    try await withChannel(to: [provider], over: wire, options: options) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      let request = Echo_EchoRequest("x")
      statuses = [
        await status { _ = try await client.get(request) },
        await status { _ = try await client.expand(request).collected() },
        await status { _ = try await client.collect([request]) },
        await status { _ = try await client.update([request]).collected() },
      ]
    }
    return statuses
  }

  @Test(arguments: [Wire.ipv4, .inProcess], [false, true])
  func theLogSaysWhatTheClientDoesNotLearn(_ wire: Wire, isIntercepted: Bool) async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let log = Log()
    let chain = Echo_EchoServerInterceptors(NamingFactory(name: "s", log: log))
    let provider = Failing(interceptors: isIntercepted ? chain : nil)
    let statuses = try await statuses(of: provider, over: wire, options)
    #expect(statuses == Array(repeating: Self.fixed, count: 4))
    let logged = entries.all
    #expect(logged.map(\.level) == Array(repeating: .error, count: 4))
    #expect(logged.map { $0.metadata["error"] } == Array(repeating: "cannot open /srv/shop.db", count: 4))
    #expect(
      logged.map { $0.metadata["method"] }
        == ["Get", "Expand", "Collect", "Update"].map { "/echo.Echo/\($0)" }
    )
    #expect(logged.allSatisfy { $0.metadata["call"]?.isEmpty == false })
    if wire == .ipv4 { #expect(Set(logged.compactMap { $0.metadata["call"] }).count == 4) }
    #expect(logged.allSatisfy { $0.metadata["peer"]?.isEmpty == false })
  }

  /// Clients can make a handler fail as often as they like. They do not fill the log, nor hide the failures of another.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aFloodOfFailuresIsCountedByMethod(_ wire: Wire) async throws
  {
    let entries = LogEntries()
    let start = ContinuousClock.now
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withChannel(to: [Failing()], over: wire, options: options) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      for _ in 0..<100 {
        #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) } == Self.fixed)
      }
      #expect(await status { _ = try await client.collect([Echo_EchoRequest("x")]) } == Self.fixed)
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let methods = entries.all.map { $0.metadata["method"] }
    #expect(methods.first == "/echo.Echo/Get")
    #expect(methods.count { $0 == "/echo.Echo/Collect" } == 1)
    #expect(Double(methods.count) <= seconds + 3)
    #expect(entries.all.allSatisfy { $0.metadata["error"] == "cannot open /srv/shop.db" })
  }

  @Test func anOptionSendsDescriptions() async throws {
    var options = ServerOptions()
    options.logger = .quiet
    options.sendsErrorDescriptions = true
    let statuses = try await statuses(of: Failing(), over: .inProcess, options)
    let described = GRPCStatus(code: .unknown, message: "cannot open /srv/shop.db")
    #expect(statuses == Array(repeating: described, count: 4))
  }

  @Test func errorsThatDetermineAStatusAreNotLogged() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .trace)
    let errors: [(any Error, GRPCStatus.Code)] = [
      (Known(), .notFound), (GRPCStatus(code: .aborted), .aborted),
    ]
    for (error, code) in errors {
      let statuses = try await statuses(of: Failing(error: error), over: .inProcess, options)
      #expect(statuses.map { $0?.code } == Array(repeating: code, count: 4))
    }
    #expect(entries.all.isEmpty)
  }

  @Test(arguments: [Wire.ipv4, .inProcess], [false, true])
  func aStatusOfOKThatIsThrownIsAFaultOfTheHandler(_ wire: Wire, isIntercepted: Bool) async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let chain = Echo_EchoServerInterceptors(NamingFactory(name: "s", log: Log()))
    let provider = Failing(error: GRPCStatus.ok, interceptors: isIntercepted ? chain : nil)
    #expect(
      try await statuses(of: provider, over: wire, options) == Array(repeating: Self.fixed, count: 4)
    )
    #expect(entries.all.count == 4)
    #expect(entries.all.allSatisfy { $0.metadata["error"]?.contains("a status of OK was thrown") == true })
  }

  @Test func interceptorsKeepTheirErrorsToo() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    options.interceptorFactories = [SecretGuard()]
    #expect(
      try await statuses(of: Failing(), over: .inProcess, options) == Array(repeating: Self.fixed, count: 4)
    )
    options.interceptorFactories = []
    let hooks: @Sendable () -> [EchoServerInterceptor] = {
      [ServerCallHook(unary: { _, _, _ in throw Secret() }, streamed: { _, _, _ in throw Secret() })]
    }
    let provider = Failing(interceptors: ServerFactory(make: hooks))
    #expect(
      try await statuses(of: provider, over: .inProcess, options) == Array(repeating: Self.fixed, count: 4)
    )
    #expect(entries.all.count == 8)
    #expect(entries.all.allSatisfy { $0.metadata["error"] == "cannot open /srv/shop.db" })
  }

  @Test func warningsAreLoggedByDefault() {
    for logger in [ServerOptions().logger, ChannelOptions().logger] {
      #expect(logger.handler is LineLog)
      #expect(logger.minimumLevel == .warning)
    }
    var options = ChannelOptions()
    options.logger = .quiet
    #expect(options.logger.handler == nil)
  }

  // MARK: Handlers that would be ignored

  @Test func twoHandlersOfOnePathStartNoServer() {
    let error = GRPCStatus(code: .invalidArgument, message: "two handlers have the same path: /echo.Echo/Get")
    #expect(throws: error) { try Server(providers: [Failing(), Failing()]) }
    #expect(throws: error) { try Channel(inProcess: [Failing(), Failing()]) }
  }

  @Test func handlersOfAnotherTypeStartNoServer() {
    let find = CodableMethod<String, String>("stock.Stock", "Find", .unary)
    let handlers = [
      ("serverStreaming", find.serverStreamingHandler { _, _, _ in }),
      ("clientStreaming", find.clientStreamingHandler { _, _ in "" }),
      ("bidirectionalStreaming", find.bidirectionalStreamingHandler { _, _, _ in }),
    ]
    for (type, handler) in handlers {
      let provider = ServiceHandlers(ServiceDescriptor("stock.Stock", [find.descriptor]), [handler])
      let message = """
        /stock.Stock/Find is a unary method, but has a handler for \(type) methods: make it with unaryHandler
        """
      let error = GRPCStatus(code: .invalidArgument, message: message)
      #expect(throws: error) { try Server(providers: [provider]) }
      #expect(throws: error) { try Channel(inProcess: [provider]) }
    }
  }

  @Test func aDescriptionUnderAnotherNameStartsNoServer() {
    let find = CodableMethod<String, String>("stock.Stock", "Find", .unary)
    let service = ServiceDescriptor("stock.Stck", [find.descriptor])
    let message = "the description of stock.Stck has a method of another service: /stock.Stock/Find"
    #expect(throws: GRPCStatus(code: .invalidArgument, message: message)) {
      try Server(providers: [ServiceHandlers(service, [find.unaryHandler { name, _ in name }])])
    }
  }

  @Test func handlersOfUnknownMethodsStartNoServer() throws {
    let find = CodableMethod<String, String>("stock.Stock", "Find", .unary)
    let lost = CodableMethod<String, String>("stock.Stock", "Fnd", .unary)
    let service = ServiceDescriptor("stock.Stock", [find.descriptor])
    let handlers = [find, lost].map { $0.unaryHandler { name, _ in name } }
    let message = "the description of stock.Stock lacks a method that has a handler: /stock.Stock/Fnd"
    #expect(throws: GRPCStatus(code: .invalidArgument, message: message)) {
      try Server(providers: [ServiceHandlers(service, handlers)])
    }
    _ = try Server(providers: [ServiceHandlers(service, [handlers[0]])])
  }
}
