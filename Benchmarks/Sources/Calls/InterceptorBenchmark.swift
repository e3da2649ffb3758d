import BenchService
import Foundation
import Switchboard
import SwitchboardConsole
import SwitchboardTelemetry

/// The cost of interceptors that do nothing, added to a small unary call: CPU time of the whole process, which other
/// load on the machine does not increase.
struct InterceptorBenchmark {
  let overHTTP2: Bool
  /// Whether callers run on the client's loop, so that no call switches threads.
  let onLoop: Bool
  let chains: [NoOpChain]
  let calls: Int
  let repeats: Int

  private static let callers = 16

  init(_ arguments: inout Arguments) throws {
    let transport = try arguments.next("TRANSPORT")
    guard ["inprocess", "http2"].contains(transport) else {
      throw Arguments.Misuse(text: "unknown transport '\(transport)'\n\(Benchmarks.usage)")
    }
    overHTTP2 = transport == "http2"
    onLoop = arguments.take(.onLoop)
    chains = try arguments.next("CHAINS").split(separator: ",").map { try NoOpChain(named: String($0)) }
    calls = try arguments.nextCount("CALLS")
    repeats = try arguments.nextCount("REPEATS")
    try arguments.end()
  }

  /// One line per chain: the median of the repeats, in nanoseconds per call, and the median difference to the first
  /// chain in the same round. The chains take turns, so that other load on the machine affects all of them.
  func run() async throws -> String {
    var cpu: [[Double]] = chains.map { _ in [] }
    var elapsed = cpu
    let group = try LoopGroup()
    for _ in 0..<repeats {
      for (index, chain) in chains.enumerated() {
        let pair = try BenchPair(chain, overHTTP2: overHTTP2, group)
        try await makeCalls(pair, calls / 10)
        let (start, cpuStart) = (ContinuousClock.now, ProcessTime.nanoseconds)
        try await makeCalls(pair, calls)
        cpu[index].append((ProcessTime.nanoseconds - cpuStart) / Double(calls))
        elapsed[index].append((ContinuousClock.now - start) / .nanoseconds(1) / Double(calls))
        await pair.close()
      }
    }
    return chains.indices.map { index in
      let added = median(zip(cpu[index], cpu[0]).map { $0 - $1 })
      let throughput = median(zip(elapsed[0], elapsed[index]).map { 1000 * $0 / $1 })
      let name = chains[index].name
      return "\(name) cpu_ns=\(median(cpu[index])) added_ns=\(added) throughput_permille=\(throughput)"
    }.joined(separator: "\n")
  }

  private func median(_ values: [Double]) -> Int { Int(values.sorted()[values.count / 2].rounded()) }

  private func makeCalls(_ pair: BenchPair, _ count: Int) async throws {
    let share = max(1, count / Self.callers)
    let executor: (any EventLoop)? = onLoop ? pair.channel.eventLoop : nil
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.callers {
        group.addTask(executorPreference: executor) {
          for _ in 0..<share { _ = try await pair.call(.with { $0.text = "hello" }) }
        }
      }
      try await group.waitForAll()
    }
  }
}

/// The number of interceptors on each side.
struct NoOpChain: Sendable {
  let name: String
  /// Calls that bypass the client's interceptor factory.
  let isBare: Bool
  let client: Int
  let server: Int
  /// What is measured instead of interceptors.
  let telemetry: BenchTelemetry?

  /// Whether one instance of each interceptor serves all calls.
  let isShared: Bool

  /// `none`, `bare`, a side with a number: `client1`, `server5`, `both5`, of which `shared-server5` and others have one
  /// instance for all calls; or telemetry on both sides: `metrics`, `console`, `viewed`, `unsampled`, `recorded`.
  init(named name: String) throws {
    self.name = name
    isBare = name == "bare"
    isShared = name.hasPrefix("shared-")
    let name = isShared ? String(name.dropFirst("shared-".count)) : name
    telemetry = BenchTelemetry(rawValue: name)
    if telemetry != nil {
      (client, server) = (0, 0)
      return
    }
    let count = Int(name.drop { $0.isLetter })
    switch (name.prefix { $0.isLetter }, count) {
    case ("none", nil), ("bare", nil): (client, server) = (0, 0)
    case ("client", let count?): (client, server) = (count, 0)
    case ("server", let count?): (client, server) = (0, count)
    case ("both", let count?): (client, server) = (count, count)
    default: throw Arguments.Misuse(text: "unknown chain '\(name)'\n\(Benchmarks.usage)")
    }
  }
}

/// What telemetry does with the calls of both sides.
enum BenchTelemetry: String {
  /// Counts them.
  case metrics
  /// The same with a console that nobody looks at, or at whose calls somebody looks.
  case console, viewed
  /// Passes traces on that are not recorded, and counts nothing.
  case unsampled
  /// Records all traces, and drops them.
  case recorded

  func make() throws -> Telemetry {
    var options = TelemetryOptions(serviceName: "benchmark")
    options.countsCalls = [.metrics, .console, .viewed].contains(self)
    options.tracesCalls = !options.countsCalls
    options.sampler = self == .recorded ? .always : .never
    options.exporters = [.spans { _ in }]
    return try Telemetry(options)
  }

  func makeConsole(_ telemetry: Telemetry) throws -> Console? {
    guard [.console, .viewed].contains(self) else { return nil }
    var options = ConsoleOptions()
    options.logger = .quiet
    let console = try Console(telemetry: telemetry, options: options)
    if self == .viewed { telemetry.timeCalls(true) }
    return console
  }
}

/// A client and a server, each with a number of interceptors that only forward.
private struct BenchPair: Sendable {
  let channel: Channel
  private let client: Bench_BenchClient
  private let server: Server?
  private let isBare: Bool
  private let telemetry: Telemetry?
  private let console: Console?

  init(_ chain: NoOpChain, overHTTP2: Bool, _ group: LoopGroup) throws {
    let provider = NoOpProvider(chain)
    let telemetry = try chain.telemetry?.make()
    self.telemetry = telemetry
    console = try telemetry.flatMap { try chain.telemetry?.makeConsole($0) }
    var serverOptions = ServerOptions()
    serverOptions.observer = telemetry?.observer()
    var options = ChannelOptions()
    options.observer = telemetry?.observer()
    if overHTTP2 {
      let server = try Server(providers: [provider], options: serverOptions)
      channel = try Channel(
        target: "\(try server.bind(host: "127.0.0.1", port: 0))",
        options: options,
        group: group
      )
      self.server = server
    } else {
      channel = try Channel(
        inProcess: [provider],
        options: serverOptions,
        channelOptions: options,
        group: group
      )
      server = nil
    }
    let factory = chain.client > 0 ? ClientFactory(chain) : nil
    client = Bench_BenchClient(channel: channel, interceptors: factory)
    isBare = chain.isBare
  }

  nonisolated(nonsending) func call(_ request: Bench_Text) async throws -> Bench_Text {
    guard isBare else { return try await client.unary(request) }
    return try await MethodCall(Bench_BenchMetadata.Methods.unary, on: channel).unary(request)
  }

  func close() async {
    await channel.shutDown(grace: .zero)
    await server?.shutDown(grace: .zero)
    await console?.shutDown()
    await telemetry?.shutDown(within: .milliseconds(10))
  }
}

private struct ClientFactory: Bench_BenchClientInterceptorFactoryProtocol {
  let count: Int
  // Safe, because these interceptors have no state.
  nonisolated(unsafe) let shared: [ClientInterceptor<Bench_Text, Bench_Text>]

  init(_ chain: NoOpChain) {
    count = chain.client
    shared = chain.isShared ? (0..<count).map { _ in NoOpClientInterceptor() } : []
  }

  func makeUnaryInterceptors() -> [ClientInterceptor<Bench_Text, Bench_Text>] {
    typealias NoOp = NoOpClientInterceptor
    guard shared.isEmpty else { return shared }
    // Array literals, as a user would write the factory.
    return switch count {
    case 1: [NoOp()]
    case 5: [NoOp(), NoOp(), NoOp(), NoOp(), NoOp()]
    default: (0..<count).map { _ in NoOp() }
    }
  }

  func makeServerStreamInterceptors() -> [ClientInterceptor<Bench_Plan, Bench_Chunk>] { [] }
  func makeClientStreamInterceptors() -> [ClientInterceptor<Bench_Chunk, Bench_Plan>] { [] }
  func makeBidiInterceptors() -> [ClientInterceptor<Bench_Text, Bench_Text>] { [] }
}

private struct ServerFactory: Bench_BenchServerInterceptorFactoryProtocol {
  let count: Int
  // Safe, because these interceptors have no state.
  nonisolated(unsafe) let shared: [ServerInterceptor<Bench_Text, Bench_Text>]

  init(_ chain: NoOpChain) {
    count = chain.server
    shared = chain.isShared ? (0..<count).map { _ in NoOpServerInterceptor() } : []
  }

  func makeUnaryInterceptors() -> [ServerInterceptor<Bench_Text, Bench_Text>] {
    typealias NoOp = NoOpServerInterceptor
    guard shared.isEmpty else { return shared }
    // Array literals, as a user would write the factory.
    return switch count {
    case 1: [NoOp()]
    case 5: [NoOp(), NoOp(), NoOp(), NoOp(), NoOp()]
    default: (0..<count).map { _ in NoOp() }
    }
  }

  func makeServerStreamInterceptors() -> [ServerInterceptor<Bench_Plan, Bench_Chunk>] { [] }
  func makeClientStreamInterceptors() -> [ServerInterceptor<Bench_Chunk, Bench_Plan>] { [] }
  func makeBidiInterceptors() -> [ServerInterceptor<Bench_Text, Bench_Text>] { [] }
}

private final class NoOpClientInterceptor: ClientInterceptor<Bench_Text, Bench_Text> {
  override func send(
    _ part: GRPCClientRequestPart<Bench_Text>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Bench_Text, Bench_Text>
  ) {
    context.send(part, promise: promise)
  }

  override func receive(
    _ part: GRPCClientResponsePart<Bench_Text>,
    context: ClientInterceptorContext<Bench_Text, Bench_Text>
  ) {
    context.receive(part)
  }
}

private final class NoOpServerInterceptor: ServerInterceptor<Bench_Text, Bench_Text> {
  override func receive(
    _ part: GRPCServerRequestPart<Bench_Text>,
    context: ServerInterceptorContext<Bench_Text, Bench_Text>
  ) {
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<Bench_Text>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Bench_Text, Bench_Text>
  ) {
    context.send(part, promise: promise)
  }
}

private struct NoOpProvider: Bench_BenchProvider {
  let interceptors: (any Bench_BenchServerInterceptorFactoryProtocol)?

  init(_ chain: NoOpChain) {
    interceptors = chain.server > 0 ? ServerFactory(chain) : nil
  }

  func unary(request: Bench_Text, context: ServerCallContext) async throws -> Bench_Text { request }

  func serverStream(
    request: Bench_Plan,
    responseStream: ResponseStreamWriter<Bench_Chunk>,
    context: ServerCallContext
  ) async throws {}

  func clientStream(
    requestStream: RequestStream<Bench_Chunk>,
    context: ServerCallContext
  ) async throws -> Bench_Plan { Bench_Plan() }

  func bidi(
    requestStream: RequestStream<Bench_Text>,
    responseStream: ResponseStreamWriter<Bench_Text>,
    context: ServerCallContext
  ) async throws {}
}
