import EchoService
import Switchboard

/// One of several servers that do the same.
enum ReplicaScenario {
  static func serve(_ host: String, _ port: Int, name: String) async throws {
    let server = try Server(providers: [ReplicaProvider(name: name)])
    let address = try server.bind(host: host, port: port)
    try await server.run { FaultSubject.say("\(address)") }
  }
}

private struct ReplicaProvider: Echo_EchoProvider {
  var interceptors: Interceptors? { nil }

  let name: String

  /// `fail NAME` fails on the server of this name, and `slow NAME` takes 50 ms there.
  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    if request.text == "fail \(name)" { throw GRPCStatus(code: .unavailable, message: "\(name) fails") }
    if request.text == "slow \(name)" { try await Task.sleep(for: .milliseconds(50)) }
    return .with { $0.text = name }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws { try await responseStream.send(.with { $0.text = name }) }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse { .with { $0.text = name } }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for try await _ in requestStream { try await responseStream.send(.with { $0.text = name }) }
  }
}
