import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardProtobuf
import SwitchboardServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct RichErrorTests {
  private static let violation = Google_Rpc_BadRequest.with {
    $0.fieldViolations = [
      .with {
        $0.field = "text"
        $0.description_p = "ü is not allowed"
      }
    ]
  }
  private static let retry = Google_Rpc_RetryInfo.with { $0.retryDelay = .init(seconds: 3, nanos: 0) }

  @Test func detailsTravelToTheClient() async throws {
    try await withChannel(to: [Refusing()]) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      let unary = try #require(await status { _ = try await client.get(Echo_EchoRequest()) })
      try expect(unary)
      let streamed = await status { for try await _ in client.expand(Echo_EchoRequest()) {} }
      try expect(try #require(streamed))
    }
    let channel = try Channel(inProcess: [Refusing()])
    let refused = await status { _ = try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest()) }
    try expect(try #require(refused))
  }

  private func expect(_ status: GRPCStatus) throws {
    #expect(status.code == .invalidArgument)
    #expect(status.message == "no")
    let violations = try status.details(of: Google_Rpc_BadRequest.self)
    #expect(violations == [Self.violation])
    let retries = try status.details(of: Google_Rpc_RetryInfo.self)
    #expect(retries == [Self.retry])
    let help = try status.details(of: Google_Rpc_Help.self)
    #expect(help.isEmpty)
    let rich = try #require(try status.richStatus)
    #expect(rich.message == "no")
    #expect(rich.details.count == 2)
  }

  @Test func aStatusWithoutDetailsHasNone() throws {
    let status = GRPCStatus(code: .notFound)
    let (rich, help) = try (status.richStatus, status.details(of: Google_Rpc_Help.self))
    #expect(rich == nil)
    #expect(help.isEmpty)
  }

  @Test func brokenDetailsAreAnErrorOnlyWhenRead() throws {
    var status = GRPCStatus(code: .notFound)
    status.packedDetails = [0xFF]
    #expect(throws: DecodeError.self) { _ = try status.richStatus }
  }

  @Test func aCodeThatIsUnknownStaysInTheDetails() throws {
    let status = try GRPCStatus(Google_Rpc_Status.with { $0.code = 99 })
    let rich = try status.richStatus
    #expect(status.code == .unknown)
    #expect(rich?.code == 99)
  }

  private struct Refusing: Echo_EchoProvider {
    var interceptors: Interceptors? { nil }

    private var error: GRPCStatus {
      get throws {
        try GRPCStatus(
          code: .invalidArgument,
          message: "no",
          details: RichErrorTests.violation,
          RichErrorTests.retry
        )
      }
    }

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      throw try error
    }

    func expand(
      request: Echo_EchoRequest,
      responseStream: ResponseStreamWriter<Echo_EchoResponse>,
      context: ServerCallContext
    ) async throws {
      try await responseStream.send(Echo_EchoResponse())
      throw try error
    }

    func collect(
      requestStream: RequestStream<Echo_EchoRequest>,
      context: ServerCallContext
    ) async throws -> Echo_EchoResponse { throw try error }

    func update(
      requestStream: RequestStream<Echo_EchoRequest>,
      responseStream: ResponseStreamWriter<Echo_EchoResponse>,
      context: ServerCallContext
    ) async throws { throw try error }
  }
}
