import EchoService
import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf

/// Asks a server in the style of grpc-swift 2.
struct Questioner {
  let client: GRPCClient<HTTP2ClientTransport.Posix>

  func ask(_ text: String) async throws -> String {
    let echo = Echo_Echo.Client(wrapping: client)
    var metadata = Metadata()
    metadata.addString("north", forKey: "tenant")
    let request = ClientRequest(message: Echo_EchoRequest.with { $0.text = text }, metadata: metadata)
    let response: Echo_EchoResponse = try await echo.get(request: request)
    return response.text
  }
}
