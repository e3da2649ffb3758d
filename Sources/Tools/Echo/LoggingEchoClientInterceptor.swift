import EchoService
import Switchboard

/// Prints the parts of a call.
final class LoggingEchoClientInterceptor: ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Echo_EchoRequest, Echo_EchoResponse>
  ) {
    switch part {
    case .metadata(let headers):
      print("> Starting '\(context.path)' RPC, headers: \(headers)")
    case .message(let request, _):
      print("> Sending request with text '\(request.text)'")
    case .end:
      print("> Closing request stream")
    }
    context.send(part, promise: promise)
  }

  override func receive(
    _ part: GRPCClientResponsePart<Echo_EchoResponse>,
    context: ClientInterceptorContext<Echo_EchoRequest, Echo_EchoResponse>
  ) {
    switch part {
    case .metadata(let headers):
      print("< Received headers: \(headers)")
    case .message(let response):
      print("< Received response with text '\(response.text)'")
    case .end(let status, let trailers):
      print("< Response stream closed with status: '\(status)' and trailers: \(trailers)")
    }
    context.receive(part)
  }
}

/// Makes an interceptor for every call that prints its parts.
final class ExampleClientInterceptorFactory: Echo_EchoClientInterceptorFactoryProtocol {
  func makeGetInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] {
    [LoggingEchoClientInterceptor()]
  }

  func makeExpandInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] {
    [LoggingEchoClientInterceptor()]
  }

  func makeCollectInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] {
    [LoggingEchoClientInterceptor()]
  }

  func makeUpdateInterceptors() -> [ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse>] {
    [LoggingEchoClientInterceptor()]
  }
}
