package import EchoService
package import Switchboard

/// An echo service: each method has a default that echoes, so that a test writes only the methods that it is about.
package protocol EchoingProvider: Echo_EchoProvider {}

extension EchoingProvider {
  package var interceptors: Interceptors? { nil }

  package func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    .with { $0.text = request.text }
  }

  /// Responds with each word.
  package func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for word in request.text.split(separator: " ") {
      try await responseStream.send(.with { $0.text = String(word) })
    }
  }

  /// Joins the texts with spaces.
  package func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    var texts: [String] = []
    for try await request in requestStream { texts.append(request.text) }
    return .with { $0.text = texts.joined(separator: " ") }
  }

  package func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}
