import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// Servers that end calls with `OK`, but with responses that the method does not have.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct WrongResponseTests {
  /// Answers every request with the same responses.
  private struct Answering: CallHandlerProvider {
    let method: String
    let responses: [[UInt8]]

    var serviceName: String { "shop.Shop" }

    var methodHandlers: [MethodHandler] {
      let responses = responses
      let descriptor = MethodDescriptor(service: serviceName, method: method, type: .serverStreaming)
      let method = Method(descriptor, requests: BytesMarshaller(), responses: BytesMarshaller())
      return [
        method.serverStreamingHandler { _, writer, _ in
          for response in responses { try await writer.send(response) }
        }
      ]
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let method: String
    let responses: [[UInt8]]
    let complaint: String
    var testDescription: String { complaint }
  }

  private static let malformed: [UInt8] = [0x0F]
  private static let cases = [
    Case(method: "Buy", responses: [malformed], complaint: "INTERNAL: a message could not be decoded"),
    Case(method: "Watch", responses: [[], malformed], complaint: "INTERNAL: a message could not be decoded"),
    Case(method: "Buy", responses: [], complaint: "UNIMPLEMENTED: the call succeeded without a response"),
    Case(method: "Buy", responses: [[], []], complaint: "INTERNAL: the call takes one message but received"),
  ]

  @Test(arguments: cases) func theCallFails(_ wrong: Case) async throws {
    try await withServer([Answering(method: wrong.method, responses: wrong.responses)]) {
      _,
      address async throws in
      let target = "\(address)"
      let run = try Run(
        "call",
        target,
        "shop.Shop/\(wrong.method)",
        "-d",
        "{}",
        "--proto",
        "\(Run.protos)/shop.proto"
      )
      #expect(run.exitCode == (wrong.responses.isEmpty ? 12 : 13))
      #expect(run.errors.contains(wrong.complaint), "\(run.errors)")
    }
  }
}
