import BenchService
import Foundation
import Switchboard

/// Keeps idle connections open while another process inspects the server.
struct IdleBenchmark {
  private let count: Int
  private let seconds: Int
  private let connections: Connections

  init(_ arguments: inout Arguments) throws {
    let target = try arguments.next("HOST:PORT")
    count = try arguments.nextCount("CONNECTIONS")
    seconds = try arguments.nextCount("SECONDS")
    connections = Connections(target: target, flags: &arguments)
    try arguments.end()
  }

  func run() async throws -> Figures {
    let clients = try await connections.open(count)
    print("holding \(count) connections")
    fflush(nil)  // the process that inspects the server waits for this
    try await Task.sleep(for: .seconds(seconds))
    var answered = 0
    for client in clients where try await client.unary(Connections.greeting) == Connections.greeting {
      answered += 1
    }
    var figures = Figures("idle")
    figures.add("connections", answered)
    figures.addFailed(count - answered)
    return figures
  }
}
