import ConsoleMessages
import Foundation
import KindsService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardConsole
import SwitchboardProtobuf
import SwitchboardTransport
import Synchronization
import TestSupport
import Testing

/// A process whose own threads are all busy is what somebody opens the page for.
@Suite(.timeLimit(.minutes(5))) struct BusyProcessTests {
  /// In a process of its own, so that other tests go on.
  @Test func allOfTheConsoleGoesOn() async {
    await #expect(processExitsWith: .success) {
      try await MayBlock.run { try await BusyProcess().useConsole() }
    }
  }
}

private struct BusyProcess {
  private static let token = "a-token-of-the-test"

  /// Keeps all threads busy that tasks of the process run on, until it is released.
  private final class BusyThreads: Sendable {
    private let isOver = Atomic(false)
    private let begun = Atomic(0)

    /// Returns once as many tasks of each priority work as there are processors.
    init() {
      let count = ProcessInfo.processInfo.activeProcessorCount
      let priorities: [TaskPriority] = [.high, .medium, .low, .utility, .background]
      for priority in priorities {
        for _ in 0..<count { Task.detached(priority: priority) { self.work() } }
      }
      while begun.load(ordering: .relaxed) < count { Thread.sleep(forTimeInterval: 0.001) }
    }

    private func work() {
      begun.add(1, ordering: .relaxed)
      while !isOver.load(ordering: .relaxed) {}
    }

    func end() { isOver.store(true, ordering: .relaxed) }
  }

  private func answer(_ path: String, _ body: String? = nil, at address: SocketAddress) throws -> String {
    var fields = ["authorization": "Bearer \(Self.token)"]
    if body != nil { fields["content-type"] = "application/json" }
    let answer = try PageRequest(path, fields, body: body).answer(at: address)
    #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(path): \(answer.prefix(300))")
    return answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
  }

  /// Views, a large request, and a call from its beginning to its end.
  func useConsole() async throws {
    try await withServer([KindsProvider()]) { server, _ async throws in
      var options = ConsoleOptions()
      options.access = .token(Self.token)
      options.permissions = .everyone([.call])
      options.logger = .quiet
      let console = try Console(options: options)
      console.add(server, name: "kinds")
      let address = try console.serve(port: 0)
      let busy = BusyThreads()
      defer { busy.end() }
      for view in ["now", "calls", "connections", "configuration", "try"] {
        _ = try answer("/\(view)", at: address)
      }
      var start = Switchboard_Console_V1_StartCall()
      start.target = "server-1"
      start.method = "switchboard.testing.Kinds/Join"
      start.requests = [#"{"text":"a"\#(String(repeating: " ", count: 20_000))}"#]
      start.endsRequests = true
      var view = try Switchboard_Console_V1_CallView(
        jsonString: try answer("/try", start.jsonString(), at: address)
      )
      var found = view.events
      while !view.isOver {
        var request = Switchboard_Console_V1_ContinueCall()
        (request.id, request.from) = (view.id, view.next)
        let text = try answer("/call", request.jsonString(), at: address)
        view = try Switchboard_Console_V1_CallView(jsonString: text)
        found += view.events
      }
      busy.end()
      #expect(found.contains { $0.message.json == #"{"text":"a"}"# })
      await console.shutDown()
    }
  }
}
