import Foundation

/// The benchmarks of this package. `scripts/bench/all` compares each result with the peer's in the same run.
@main
enum Benchmarks {
  static let usage = """
    usage: Benchmarks codec FILE ROUNDS REPEATS
             decodes and encodes the message in FILE
           Benchmarks interceptors TRANSPORT CHAINS CALLS REPEATS
             makes small unary calls, over inprocess or http2, through each of the chains, such as
             none,client1,server1,both5
           Benchmarks server PORT [--tls] [--openssl-allocator] [--low-latency] [--two-loops] [--reuse-port] [--web]
                   [--in-threads] [--in-pool] [--metrics] [--console]
             serves Protos/bench/bench.proto until it receives a signal; port 0 picks a free port
           Benchmarks unary HOST:PORT SECONDS CALLERS CONNECTIONS
             makes unary calls; each caller makes one after the other
           Benchmarks stream HOST:PORT MESSAGES BYTES
             reads a stream of MESSAGES messages of BYTES bytes
           Benchmarks bidi HOST:PORT MESSAGES
             sends a message and waits for the response, repeatedly
           Benchmarks idle HOST:PORT CONNECTIONS SECONDS
             makes one call on each connection, then keeps them all idle
           Benchmarks attack ATTACK PORT SECONDS
             attacks the server on that local port repeatedly;
             `Benchmarks attacks` lists the attacks
           Benchmarks heavy HOST:PORT SECONDS
             makes demanding but honest calls: many, large, with large headers, cancelled, in tiny pieces;
             fails if a call fails or the server closes a connection
           Benchmarks balancing ENDPOINTS UPDATES PICKS
             measures what load balancing policies cost without connections: a pick among 100 servers,
             an update that replaces a hundredth of ENDPOINTS, and memory, that of a channel too
           Benchmarks routed HOST:PORT CALLS REPEATS
             makes small unary calls, in turn straight to the server, by round_robin to it under three addresses,
             and to xds:///bench, and measures the client's processor time
           Benchmarks updates UPDATES
             measures the processor time of a client for each update of xds:///bench, which makes no connections;
             the first is the whole config. For this and for `routed`, the environment has a bootstrap
           Benchmarks collector good|refusing|silent|slow
             is a collector of OpenTelemetry, and prints its port
           Benchmarks exporting ENDPOINT|none TRANSPORT CALLS
             makes small unary calls whose telemetry goes to the collector at ENDPOINT, over grpc,
             http/protobuf or http/json
           Benchmarks soak SECONDS
             makes calls of all kinds while injecting faults; fails if calls or memory are lost

    `interceptors` accepts --on-loop; `server` and the next four accept
           --tls          use TLS, with the certificate of scripts/bench/certificate
           --openssl-allocator
                          set OpenSSL's allocator, which packs more of idle connections (`server` only)
           --on-loop      run the callers on the connection's event loop instead of the global pool
           --two-loops    serve on two event loops
           --reuse-port   let each of them listen for itself
           --in-threads   run handlers on threads of their own, not on the loop
           --in-pool      run handlers in the global pool
           --web          serve Connect and gRPC-Web too, over HTTP/1.1 too, with JSON
           --metrics      count calls, with telemetry that exports nothing (`server` only)
           --console      the same, and serve a console of it all, whose link is printed (`server` only)
           --round-robin  have the policy round_robin choose among the servers of a target such as
                          ipv4:127.0.0.1:1,127.0.0.1:2
           --low-latency  poll for responses without blocking while calls are in progress
    Latencies are in microseconds.
    """

  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
      exit(error is Arguments.Misuse ? 2 : 1)
    }
  }

  @concurrent
  private static func run(_ words: [String]) async throws {
    var arguments = try Arguments(words)
    switch try arguments.next("a benchmark's name") {
    case "codec": print(try CodecBenchmark(&arguments).run())
    case "interceptors": print(try await InterceptorBenchmark(&arguments).run())
    case "server": try await BenchServer(&arguments).run()
    case "unary": try report(try await UnaryBenchmark(&arguments).run())
    case "stream": try report(try await StreamBenchmark(&arguments).run())
    case "bidi": try report(try await BidiBenchmark(&arguments).run())
    case "idle": try report(try await IdleBenchmark(&arguments).run())
    case "attack": print(try await AttackBenchmark(&arguments).run().line)
    case "attacks": print(Attack.names.joined(separator: "\n"))
    case "heavy": try report(try await HeavyBenchmark(&arguments).run())
    case "balancing": print(try await BalancingBenchmark(&arguments).run())
    case "routed": print(try await RoutedBenchmark(&arguments).run())
    case "updates": try await UpdateBenchmark(&arguments).run()
    case "collector": try await BenchCollector(&arguments).run()
    case "exporting": print(try await ExportBenchmark(&arguments).run())
    case "soak": try await Soak(&arguments).run()
    case "help", "--help", "-h": print(usage)
    case let name: throw Arguments.Misuse(text: "unknown benchmark '\(name)'\n\(usage)")
    }
  }

  /// Prints the results; if they contain failures, the process fails.
  private static func report(_ figures: Figures) throws {
    print(figures.line)
    if figures.failed > 0 { exit(1) }
  }
}
