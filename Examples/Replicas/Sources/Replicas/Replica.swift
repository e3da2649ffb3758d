import Switchboard

/// Answers with its name.
struct Replica: Replicas_ReplicaProvider {
  var interceptors: Interceptors? { nil }

  let name: String
  var delay = Duration.zero
  var fails = false

  func greet(
    request: Replicas_GreetRequest,
    context: ServerCallContext
  ) async throws -> Replicas_GreetReply {
    if delay > .zero { try await Task.sleep(for: delay) }
    if fails { throw GRPCStatus(code: .unavailable, message: "\(name) was started with --fail") }
    return .with { $0.server = name }
  }
}
