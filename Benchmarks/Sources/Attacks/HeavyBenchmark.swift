import BenchService
import Switchboard

/// Honest clients that demand much of a server, each on a connection of its own. None of their calls may fail, and the
/// server may close none of their connections, whatever others do to it.
struct HeavyBenchmark {
  private let target: String
  private let seconds: Int
  private let isSecure: Bool

  init(_ arguments: inout Arguments) throws {
    target = try arguments.next("HOST:PORT")
    seconds = try arguments.nextCount("SECONDS")
    isSecure = arguments.take(.tls)
    try arguments.end()
  }

  func run() async throws -> Figures {
    let end = ContinuousClock.now + .seconds(seconds)
    let group = try LoopGroup()
    var figures = Figures("heavy")
    var failed = 0
    let tallies = try await withThrowingTaskGroup(of: (String, Int, Int).self) { tasks in
      for client in HeavyClient.all {
        tasks.addTask {
          let closings = Closings()
          let channel = try Channel(target: target, options: options(of: client, closings), group: group)
          let (calls, failed) = await client.run(Bench_BenchClient(channel: channel), until: end)
          let closed = closings.count
          await channel.shutDown(grace: .seconds(5))
          return (client.name, calls, failed + closed)
        }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    for (name, calls, misses) in tallies.sorted(by: { $0.0 < $1.0 }) {
      figures.add(name, calls)
      if misses > 0 { figures.add("\(name)_failed", misses) }
      failed += misses
    }
    figures.addFailed(failed)
    return figures
  }

  private func options(of client: HeavyClient, _ closings: Closings) -> ChannelOptions {
    var options = ChannelOptions()
    options.observer = closings
    // A call whose connection is closed must not be made again unnoticed.
    options.enableRetry = false
    if isSecure { options.security = .tls(BenchTLS.trust) }
    if let window = client.window {
      options.streamLookahead = window
      options.connectionWindow = window
    }
    return options
  }
}

/// Counts the connections that were closed before their channel was shut down.
private final class Closings: CallObserver {
  private let closed = Locked(0)

  var count: Int { closed.withLock { $0 } }

  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    closed.withLock { $0 += 1 }
  }
}

/// A kind of demanding client: what its callers do again and again.
private struct HeavyClient: Sendable {
  struct WrongResponse: Error {}

  let name: String
  let callers: Int
  /// The size of its windows, if it is not the default.
  var window: Int?
  let call: @Sendable (Bench_BenchClient) async throws -> Void

  static let all = [
    HeavyClient(name: "calls", callers: 100) { client in
      guard try await client.unary(Connections.greeting) == Connections.greeting else {
        throw WrongResponse()
      }
    },
    HeavyClient(name: "large_messages", callers: 2) { try await collect($0, 3_000_000, .none) },
    HeavyClient(name: "compressed_messages", callers: 2) { try await collect($0, 3_000_000, .gzip) },
    HeavyClient(name: "tiny_messages", callers: 2) { client in
      let tiny = Bench_Text.with { $0.text = "x" }
      var count = 0
      for try await response in client.bidi([Bench_Text](repeating: tiny, count: 1000)) {
        guard response == tiny else { throw WrongResponse() }
        count += 1
      }
      guard count == 1000 else { throw WrongResponse() }
    },
    HeavyClient(name: "large_headers", callers: 4) { client in
      // Just below the limit of a server that changes nothing.
      let headers: HPACKHeaders = ["x-large": String(repeating: "x", count: 15_000)]
      _ = try await client.unary(Connections.greeting, callOptions: CallOptions(initialMetadata: headers))
    },
    // As from a caller whose user is impatient, or whose server is overloaded.
    HeavyClient(name: "cancelled", callers: 8) { client in
      let plan = Bench_Plan.with {
        $0.messages = 1_000_000
        $0.bytes = 100
      }
      for try await _ in client.serverStream(plan) { break }
    },
    // Each hundred bytes cost a WINDOW_UPDATE.
    HeavyClient(name: "small_windows", callers: 2, window: 200) { client in
      let plan = Bench_Plan.with {
        $0.messages = 50
        $0.bytes = 500
      }
      var count = 0
      for try await _ in client.serverStream(plan) { count += 1 }
      guard count == 50 else { throw WrongResponse() }
    },
  ]

  private static func collect(
    _ client: Bench_BenchClient,
    _ byteCount: Int,
    _ compression: MessageCompression
  ) async throws {
    let chunk = Bench_Chunk.with { $0.payload = [UInt8](repeating: 0x78, count: byteCount) }
    let plan = try await client.clientStream(
      [chunk, chunk],
      callOptions: CallOptions(compression: compression)
    )
    guard plan.messages == 2 else { throw WrongResponse() }
  }

  /// Returns how many calls were made and how many of them failed.
  func run(_ client: Bench_BenchClient, until end: ContinuousClock.Instant) async -> (calls: Int, failed: Int)
  {
    await withTaskGroup(of: (Int, Int).self) { tasks in
      for _ in 0..<callers {
        tasks.addTask {
          var (calls, failed) = (0, 0)
          while ContinuousClock.now < end {
            calls += 1
            do { try await call(client) } catch { failed += 1 }
          }
          return (calls, failed)
        }
      }
      return await tasks.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
    }
  }
}
