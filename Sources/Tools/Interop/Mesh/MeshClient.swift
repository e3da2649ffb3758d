import Glibc
import InteropService
import Switchboard
import SwitchboardServices
import SwitchboardXDS

/// gRPC's client for tests of meshes: makes calls at a steady pace, and tells others what becomes of them.
struct MeshClient: Sendable {
  private let channels: [Channel]
  private let server: Server
  let address: SocketAddress
  private let ledger = CallLedger()
  private let configuration: ConfigurationProvider
  private let reporter: OutcomeReporter
  private let log: LineLog
  /// Between two turns of calls.
  private let pause: Duration
  private let request: Grpc_Testing_SimpleRequest

  /// Before the first call.
  private static let start = Duration.milliseconds(500)

  init(_ arguments: Arguments) throws {
    log = LineLog(label: "Interop")
    guard let target = arguments.string("server") else {
      throw Arguments.UsageError(description: "a client of a mesh needs --server")
    }
    let (rate, count) = (arguments.number("qps"), arguments.number("num_channels"))
    guard (1...100_000).contains(rate), (1...1000).contains(count) else {
      throw Arguments.UsageError(description: "--qps is 1 to 100000, and --num_channels 1 to 1000")
    }
    pause = .seconds(1) / (rate * count)
    configuration = ConfigurationProvider(try arguments.callPlan)
    reporter = try OutcomeReporter(arguments)
    request = try .with {
      $0.fillServerID = true
      let size = arguments.number("request_payload_size")
      if size > 0 { $0.payload = try .zeros(Int32(clamping: size)) }
      $0.responseSize = Int32(clamping: arguments.number("response_payload_size"))
    }
    let logger = Logger(log)
    let isSecure = arguments.isSet("secure_mode")
    channels = try (0..<count).map { _ in try Self.connect(to: target, isSecure: isSecure, logger) }
    let channelz = ChannelzService()
    for channel in channels { channelz.add(channel, name: target) }
    let providers: [any CallHandlerProvider] = [
      StatisticsProvider(ledger: ledger), configuration, HealthService(), channelz, ClientStatusService(),
    ]
    var options = ServerOptions()
    options.logger = logger
    server = try Server(providers: providers + [ReflectionService(describing: providers)], options: options)
    channelz.add(server, name: "statistics")
    address = try server.bind(
      host: arguments.string("host") ?? "localhost",
      port: arguments.number("stats_port")
    )
  }

  /// With `isSecure`, connections are in plaintext where the control plane says nothing else; otherwise, all are.
  private static func connect(to target: String, isSecure: Bool, _ logger: Logger) throws -> Channel {
    var options = ChannelOptions()
    options.security = .plaintext
    options.logger = logger
    if target.hasPrefix("xds:") {
      options.resolvers = [XDSResolver(usesClusterSecurity: isSecure, logger: logger)]
    }
    return try Channel(target: target, options: options)
  }

  /// Makes calls until the process receives a signal to end.
  func run(ready: @escaping @Sendable () -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await makeCalls() }
      try await server.run(grace: .zero, ready: ready)
      group.cancelAll()
    }
    for channel in channels { await channel.shutDown(grace: .zero) }
    await log.flush()
  }

  private func makeCalls() async {
    await withDiscardingTaskGroup { calls in
      // Tests start the servers at the same time, and a call before they listen would fail.
      var (next, turn) = (ContinuousClock.now.advanced(by: Self.start), 0)
      while (try? await Task.sleep(until: next)) != nil {
        let plan = configuration.plan
        let client = Grpc_Testing_TestServiceClient(channel: channels[turn])
        for entry in plan.entries { calls.addTask { await make(entry, plan.timeout, client) } }
        turn = (turn + 1) % channels.count
        // What is late is made up for, but not after the process was stopped for long.
        next = max(next.advanced(by: pause), .now.advanced(by: .seconds(-1)))
      }
    }
  }

  private func make(
    _ entry: CallPlan.Entry,
    _ timeout: Duration,
    _ client: Grpc_Testing_TestServiceClient
  ) async {
    let number = ledger.begin(entry.kind)
    let options = CallOptions(timeout: timeout, initialMetadata: HPACKHeaders(entry.metadata))
    let outcome =
      switch entry.kind {
      case .empty:
        await Self.outcome(.empty, client.makeEmptyCallCall(Grpc_Testing_Empty(), callOptions: options)) {
          _ in
          ""
        }
      case .unary:
        await Self.outcome(.unary, client.makeUnaryCallCall(request, callOptions: options), \.hostname)
      }
    // The client ends, and not the call.
    guard !Task.isCancelled else { return }
    ledger.end(number, outcome, isFailure: !reporter.isExpected(outcome))
    reporter.report(outcome)
  }

  /// Waits for the end of a call. What its server calls itself is in the metadata, or else in the response.
  private static func outcome<Response>(
    _ kind: MeshCall,
    _ call: AsyncUnaryCall<Response>,
    _ hostname: (Response) -> String
  ) async -> CallLedger.Outcome {
    var outcome = CallLedger.Outcome(kind: kind, status: await call.status)
    outcome.initial = (try? await call.initialMetadata) ?? HPACKHeaders()
    outcome.trailing = (try? await call.trailingMetadata) ?? HPACKHeaders()
    let inResponse = (try? await call.response).map(hostname) ?? ""
    outcome.hostname = outcome.initial.first(name: "hostname") ?? inResponse
    return outcome
  }
}
