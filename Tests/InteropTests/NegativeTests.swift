import TestSupport
import Testing

@testable import Interop

/// Our client with a server that resets, pings and limits.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct NegativeTests {
  @Test(arguments: TestCase.allCases.filter(\.isNegative))
  func negativeCasesPass(_ test: TestCase) async throws {
    let server = try NegativeServer(test)
    try await Outcomes.record(test, "scripted") {
      do {
        try await run(test, ["--server_host=127.0.0.1", "--server_port=\(server.port)"])
      } catch {
        _ = try await server.stop()
        throw error
      }
      let problems = try await server.stop()
      if !problems.isEmpty { throw Unexpected(description: problems.joined(separator: ", ")) }
    }
  }
}
