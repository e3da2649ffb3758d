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
    """

  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
      exit(error is Arguments.Misuse ? 2 : 1)
    }
  }

  private static func run(_ words: [String]) async throws {
    var arguments = Arguments(words)
    switch try arguments.next("a benchmark's name") {
    case "codec":
      let benchmark = try CodecBenchmark(
        file: arguments.next("FILE"),
        rounds: arguments.nextCount("ROUNDS"),
        repeats: arguments.nextCount("REPEATS")
      )
      try arguments.end()
      print(try benchmark.run())
    case "interceptors":
      let benchmark = try InterceptorBenchmark(
        transport: arguments.next("TRANSPORT"),
        chains: arguments.next("CHAINS"),
        calls: arguments.nextCount("CALLS"),
        repeats: arguments.nextCount("REPEATS")
      )
      try arguments.end()
      print(try await benchmark.run())
    case "help", "--help", "-h": print(usage)
    case let name: throw Arguments.Misuse(text: "no benchmark is called '\(name)'\n\(usage)")
    }
  }
}
