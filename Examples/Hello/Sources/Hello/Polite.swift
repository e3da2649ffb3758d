import Switchboard

final class Polite: ClientInterceptor<Hello_GreetRequest, Hello_GreetReply> {
  override func send(
    _ part: GRPCClientRequestPart<Hello_GreetRequest>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Hello_GreetRequest, Hello_GreetReply>
  ) {
    guard case .message(var request, let metadata) = part else {
      return context.send(part, promise: promise)
    }
    request.name = "dear \(request.name)"
    context.send(.message(request, metadata), promise: promise)
  }
}

struct PoliteCalls: Hello_GreeterClientInterceptorFactoryProtocol {
  func makeGreetInterceptors() -> [ClientInterceptor<Hello_GreetRequest, Hello_GreetReply>] { [Polite()] }
}
