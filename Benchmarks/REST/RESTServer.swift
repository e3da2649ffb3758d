import EchoService
import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The server that `scripts/bench/rest` calls by gRPC and by REST.
@main struct RESTServer {
  static func main() async throws {
    let providers: [any CallHandlerProvider] = [EchoBack()]
    var rest = RESTOptions()
    rest.rules = [
      HTTPRule("echo.Echo.Get", "GET", "/v1/echo/{text}"),
      HTTPRule("echo.Echo.Get", "POST", "/v1/echo", body: "*"),
    ]
    var options = ServerOptions()
    try options.serveREST(providers, options: rest)
    let server = try Server(providers: providers, options: options)
    let address = try server.bind(host: "127.0.0.1", port: 0)
    try await server.run {
      print("listening on \(address)")
      fflush(nil)
    }
  }
}

/// Answers with the text that it is sent.
private struct EchoBack: Echo_EchoProvider {
  var interceptors: Interceptors? { nil }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    .with { $0.text = request.text }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    try await responseStream.send(.with { $0.text = request.text })
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    var response = Echo_EchoResponse()
    for try await request in requestStream { response.text = request.text }
    return response
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}
