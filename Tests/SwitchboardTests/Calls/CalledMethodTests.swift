import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import Testing

/// A handler learns which method was called.
@Suite(.timeLimit(.minutes(5))) struct CalledMethodTests {
  /// Answers with the path of the method.
  private struct PathTeller: CallHandlerProvider {
    let isIntercepted: Bool
    let serviceName = Echo_EchoMetadata.service.name

    var methodHandlers: [MethodHandler] {
      let interceptors: @Sendable () -> [EchoServerInterceptor] = { [EchoServerInterceptor()] }
      let chosen = isIntercepted ? interceptors : nil
      return [
        Echo_EchoMetadata.Methods.get.unaryHandler(interceptors: chosen) { _, context in
          .with { $0.text = context.method.path }
        },
        Echo_EchoMetadata.Methods.expand.serverStreamingHandler(interceptors: chosen) {
          _,
          responses,
          context in
          try await responses.send(.with { $0.text = "\(context.method.type)" })
        },
      ]
    }
  }

  @Test(arguments: [Wire.inProcess, .ipv4], [false, true])
  func aContextTellsIt(_ wire: Wire, isIntercepted: Bool) async throws {
    try await withChannel(to: [PathTeller(isIntercepted: isIntercepted)], over: wire) {
      channel async throws in
      let client = Echo_EchoClient(channel: channel)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "/echo.Echo/Get")
      let types = try await client.expand(Echo_EchoRequest("x")).collected().map(\.text)
      #expect(types == ["\(GRPCCallType.serverStreaming)"])
    }
  }
}
