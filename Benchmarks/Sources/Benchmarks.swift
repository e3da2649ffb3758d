import Foundation

/// Measures this package. `scripts/bench` sets each figure beside the peer's in the same run.
@main
enum Benchmarks {
  static let usage = """
    usage: Benchmarks codec FILE ROUNDS REPEATS
             decodes and encodes the message in FILE
           Benchmarks interceptors TRANSPORT CHAINS CALLS REPEATS
             makes small unary calls, over inprocess or http2, through each of the chains, such as
             none,client1,server1,both5
           Benchmarks server PORT [--tls] [--low-latency]
             serves Protos/bench/bench.proto until it is told to end; port 0 takes one that is free
           Benchmarks unary HOST:PORT SECONDS CALLERS CONNECTIONS
             makes unary calls, each caller one after the other
           Benchmarks stream HOST:PORT MESSAGES BYTES
             reads a stream of so many messages of that size
           Benchmarks bidi HOST:PORT MESSAGES
             sends a message and waits for its answer, over and over
           Benchmarks idle HOST:PORT CONNECTIONS SECONDS
             makes one call on each connection, then holds them all without any
           Benchmarks attack ATTACK PORT SECONDS
             does to the server on that port of this machine what no client should, over and over;
             `Benchmarks attacks` lists what it can do
           Benchmarks soak SECONDS
             makes calls of all kinds among faults, and fails if one is lost or anything is left behind

    Interceptors take --on-loop. The server, and the four after it, take
           --tls          secure the connection; both sides know what scripts/bench-certificate makes
           --on-loop      run the callers on the connection's event loop, not in the global pool
           --low-latency  look for answers without blocking while calls are under way
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
    case "soak": try await Soak(&arguments).run()
    case "help", "--help", "-h": print(usage)
    case let name: throw Arguments.Misuse(text: "no benchmark is called '\(name)'\n\(usage)")
    }
  }

  /// Prints the figures; failures among them make the process fail too.
  private static func report(_ figures: Figures) throws {
    print(figures.line)
    if figures.failed > 0 { exit(1) }
  }
}
