import EchoService
import EchoTestSupport
import Switchboard
import SwitchboardServices

/// An echo service. It rejects "refuse" with an error that has details.
struct TalkingEcho: EchoingProvider {
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
}
