import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// A provider as the tutorial declares it, created with a factory.
final class TutorialProvider: Echo_EchoProvider {
  let interceptors: Echo_EchoServerInterceptorFactoryProtocol?

  init(interceptors: Echo_EchoServerInterceptorFactoryProtocol? = nil) {
    self.interceptors = interceptors
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    .with { $0.text = "Swift echo get: \(request.text)" }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for word in request.text.split(separator: " ") {
      try await responseStream.send(.with { $0.text = String(word) })
    }
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    var text = ""
    for try await request in requestStream { text += request.text }
    return .with { $0.text = text }
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}

@Suite(.timeLimit(.minutes(5))) struct TutorialTests {
  @Test func theTutorialsInterceptorsRun() async throws {
    try await withChannel(to: [TutorialProvider()]) { channel async throws in
      let echo = Echo_EchoClient(channel: channel, interceptors: ExampleClientInterceptorFactory())
      let response = try await echo.get(.with { $0.text = "Hello" })
      #expect(response.text == "Swift echo get: Hello")
    }
  }
}
