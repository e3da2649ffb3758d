import EchoService
import Switchboard

/// Echoes messages.
struct EchoProvider: Echo_EchoProvider {
  var interceptors: Interceptors? { nil }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    .with { $0.text = "Swift echo get: \(request.text)" }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for (index, word) in request.text.split(separator: " ").enumerated() {
      try await responseStream.send(.with { $0.text = "Swift echo expand (\(index)): \(word)" })
    }
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    var words: [String] = []
    for try await request in requestStream { words.append(request.text) }
    return .with { $0.text = "Swift echo collect: \(words.joined(separator: " "))" }
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    var index = 0
    for try await request in requestStream {
      try await responseStream.send(.with { $0.text = "Swift echo update (\(index)): \(request.text)" })
      index += 1
    }
  }
}
