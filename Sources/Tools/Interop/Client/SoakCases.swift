import InteropService
import Switchboard

extension InteropClient {
  /// Repeats one call, on one channel or on a new one each time. Returns a summary.
  func soak(newChannels: Bool) async throws -> String {
    let wanted = arguments.number("soak_iterations")
    let deadline = ContinuousClock.now + .seconds(arguments.number("soak_overall_timeout_seconds"))
    let acceptable = Duration.milliseconds(
      arguments.number("soak_per_iteration_max_acceptable_latency_ms")
    )
    var times: [Duration] = []
    var failures: [String] = []
    while times.count < wanted, ContinuousClock.now < deadline {
      let begin = ContinuousClock.now
      do {
        try await soakOnce(newChannel: newChannels)
        let time = begin.duration(to: .now)
        if time > acceptable { failures.append("took \(time)") }
      } catch {
        failures.append("\(error)")
      }
      times.append(begin.duration(to: .now))
    }
    let summary = Self.summary(times, wanted, failures)
    guard times.count == wanted, failures.count <= arguments.number("soak_max_failures") else {
      throw Unexpected(description: summary)
    }
    return summary
  }

  private func soakOnce(newChannel: Bool) async throws {
    let requestSize = arguments.number("soak_request_size")
    let responseSize = arguments.number("soak_response_size")
    guard newChannel else {
      return try await largeUnary(on: service, requestSize: requestSize, responseSize: responseSize)
    }
    let client = try Self.connect(arguments, metadata)
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await largeUnary(on: client, requestSize: requestSize, responseSize: responseSize)
      )
    } catch {
      result = .failure(error)
    }
    await client.channel.shutDown(grace: .zero)
    try result.get()
  }

  private static func summary(_ times: [Duration], _ wanted: Int, _ failures: [String]) -> String {
    let sorted = times.sorted()
    func percentile(_ percent: Int) -> String {
      guard !sorted.isEmpty else { return "none" }
      return "\(sorted[min(sorted.count - 1, sorted.count * percent / 100)])"
    }
    let counts = "\(times.count) of \(wanted) iterations, \(failures.count) failures"
    let latencies = "p50 \(percentile(50)), p90 \(percentile(90)), p100 \(percentile(100))"
    return ([counts, latencies] + failures.prefix(3)).joined(separator: "; ")
  }
}
