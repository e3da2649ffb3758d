import Switchboard

/// Callers that make one call after the other, and count who answers.
actor Callers {
  private let client: Mesh_GreeterClient
  private var counts: [String: Int] = [:]
  private var failed = 0
  private var reason = ""

  init(on channel: Channel) { client = Mesh_GreeterClient(channel: channel) }

  /// Makes calls until the task is cancelled.
  func run(callers: Int) async {
    await withTaskGroup { group in
      for _ in 0..<callers {
        group.addTask {
          while !Task.isCancelled {
            await self.callOnce()
            try? await Task.sleep(for: .milliseconds(5))
          }
        }
      }
    }
  }

  private func callOnce() async {
    do {
      let greeting = try await client.greet(
        .with { $0.name = "Ada" },
        callOptions: CallOptions(timeout: .seconds(5))
      )
      counts[greeting.version, default: 0] += 1
    } catch {
      guard !Task.isCancelled else { return }
      failed += 1
      reason = ": \(GRPCStatus(describing: error))"
    }
  }

  /// What came of the calls since the last time, as a line, with the reason of the last call that failed.
  func report() -> String {
    defer { (counts, failed, reason) = ([:], 0, "") }
    return "v1 \(counts["v1", default: 0])  v2 \(counts["v2", default: 0])  failed \(failed)\(reason)"
  }
}
