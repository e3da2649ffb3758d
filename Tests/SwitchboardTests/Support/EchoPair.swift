import EchoService
import ServerTestSupport
import Switchboard

typealias EchoClientInterceptor = ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>
typealias EchoServerInterceptor = ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse>
typealias EchoClientContext = ClientInterceptorContext<Echo_EchoRequest, Echo_EchoResponse>
typealias EchoServerContext = ServerInterceptorContext<Echo_EchoRequest, Echo_EchoResponse>

/// The same interceptors for every method of the client.
struct ClientFactory: Echo_EchoClientInterceptorFactoryProtocol, Sendable {
  let make: @Sendable () -> [EchoClientInterceptor]

  func makeGetInterceptors() -> [EchoClientInterceptor] { make() }
  func makeExpandInterceptors() -> [EchoClientInterceptor] { make() }
  func makeCollectInterceptors() -> [EchoClientInterceptor] { make() }
  func makeUpdateInterceptors() -> [EchoClientInterceptor] { make() }
}

/// The same interceptors for every method of the server.
struct ServerFactory: Echo_EchoServerInterceptorFactoryProtocol {
  let make: @Sendable () -> [EchoServerInterceptor]

  func makeGetInterceptors() -> [EchoServerInterceptor] { make() }
  func makeExpandInterceptors() -> [EchoServerInterceptor] { make() }
  func makeCollectInterceptors() -> [EchoServerInterceptor] { make() }
  func makeUpdateInterceptors() -> [EchoServerInterceptor] { make() }
}

/// A server of the tutorial's provider and a channel to it, over a real connection.
struct EchoPair {
  let channel: Channel

  static func with(
    server makeServerInterceptors: (@Sendable () -> [EchoServerInterceptor])? = nil,
    failing: Bool = false,
    _ body: (EchoPair) async throws -> Void
  ) async throws {
    let factory = makeServerInterceptors.map { ServerFactory(make: $0) }
    let provider: any Echo_EchoProvider =
      failing ? FailingProvider(interceptors: factory) : TutorialProvider(interceptors: factory)
    try await withChannel(to: [provider]) { channel async throws in
      try await body(EchoPair(channel: channel))
    }
  }

  func client(
    timeout: Duration? = .seconds(60),
    _ make: (@Sendable () -> [EchoClientInterceptor])? = nil
  ) -> Echo_EchoClient {
    guard let make else { return Echo_EchoClient(channel: channel) }
    return Echo_EchoClient(
      channel: channel,
      defaultCallOptions: CallOptions(timeout: timeout),
      interceptors: ClientFactory(make: make)
    )
  }
}

extension Echo_EchoRequest {
  init(_ text: String) { self = .with { $0.text = text } }
}

extension AsyncSequence {
  func collected() async throws -> [Element] {
    var all: [Element] = []
    for try await element in self { all.append(element) }
    return all
  }
}
