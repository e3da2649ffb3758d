import EchoService
import Switchboard
import SwitchboardServices

/// An echo service. It rejects "refuse" with an error that has details.
struct TalkingEcho: Echo_EchoProvider {
  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    guard request.text != "refuse" else { throw try Self.refusal }
    return .with { $0.text = request.text }
  }

  static var refusal: GRPCStatus {
    get throws {
      try GRPCStatus(
        code: .invalidArgument,
        message: "no",
        details: Google_Rpc_BadRequest.with {
          $0.fieldViolations = [
            .with {
              $0.field = "text"
              $0.description_p = "ü is not allowed"
            }
          ]
        }
      )
    }
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
    var words: [String] = []
    for try await request in requestStream { words.append(request.text) }
    return .with { $0.text = words.joined(separator: " ") }
  }

  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}
