import BenchService
import Foundation
import Switchboard
import SwitchboardTelemetry

/// Small unary calls between a client and a server of one process, whose telemetry goes to a collector: every call is
/// counted, and its three spans are recorded.
struct ExportBenchmark {
  private let endpoint: String
  private let transport: String
  private let calls: Int

  private static let callers = 16

  init(_ arguments: inout Arguments) throws {
    endpoint = try arguments.next("ENDPOINT")
    transport = try arguments.next("TRANSPORT")
    calls = try arguments.nextCount("CALLS")
    try arguments.end()
  }

  private func makeTelemetry() throws -> Telemetry? {
    guard endpoint != "none" else { return nil }
    guard let transport = OTLPOptions.Transport(rawValue: transport) else {
      throw Arguments.Misuse(text: "unknown transport '\(transport)'\n\(Benchmarks.usage)")
    }
    var options = TelemetryOptions(serviceName: "benchmark")
    options.sampler = .always
    options.metricInterval = .seconds(1)
    options.exporters = [.otlp(OTLPOptions(endpoint: endpoint, transport: transport))]
    return try Telemetry(options)
  }

  func run() async throws -> String {
    let telemetry = try makeTelemetry()
    let group = try LoopGroup()
    var serverOptions = ServerOptions()
    serverOptions.observer = telemetry?.observer()
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry?.observer()
    let server = try Server(providers: [BenchProvider()], options: serverOptions)
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let channel = try Channel(target: "\(address)", options: channelOptions, group: group)
    let client = Bench_BenchClient(channel: channel)
    try await makeCalls(client, calls / 10)
    let (start, cpuStart) = (ContinuousClock.now, Self.cpuNanoseconds)
    try await makeCalls(client, calls)
    var figures = Figures("exporting")
    figures.addRate("calls_per_s", calls, per: ContinuousClock.now - start)
    figures.add("cpu_ns", (Self.cpuNanoseconds - cpuStart) / calls)
    figures.add("rss_kb", Self.memory("VmRSS"))
    figures.add("peak_kb", Self.memory("VmHWM"))
    let lost = telemetry?.drops[.traces].map { $0.queueFull + $0.notExported } ?? 0
    figures.add("spans_lost_permille", lost * 1000 / (calls * 33 / 10))
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
    let ending = ContinuousClock.now
    await telemetry?.shutDown(within: .milliseconds(100))
    figures.add("shutdown_ms", Int((ContinuousClock.now - ending) / .milliseconds(1)))
    return figures.line
  }

  private func makeCalls(_ client: Bench_BenchClient, _ count: Int) async throws {
    let share = max(1, count / Self.callers)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.callers {
        group.addTask(executorPreference: client.channel.eventLoop) {
          for _ in 0..<share { _ = try await client.unary(.with { $0.text = "hello" }) }
        }
      }
      try await group.waitForAll()
    }
  }

  /// The time that all threads of the process have taken of processors.
  private static var cpuNanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  /// A figure of the process in KB.
  private static func memory(_ name: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
