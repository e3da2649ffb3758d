import EchoService
import Switchboard
import Testing

@testable import SwitchboardMock

/// What is forwarded but must not become a rule, and what forwarded calls have that their callers did not send.
@Suite(.timeLimit(.minutes(2))) struct RecordingTests {
  /// Answers as the text of the request says.
  private struct Server: CallHandlerProvider {
    let serviceName = "echo.Echo"
    /// Resumed when a call hangs, after its first response.
    let hangs: AsyncStream<Void>.Continuation

    private func method(_ name: String, _ type: GRPCCallType) -> Method<BytesMarshaller, BytesMarshaller> {
      Method(
        MethodDescriptor(service: serviceName, method: name, type: type),
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      )
    }

    var methodHandlers: [MethodHandler] {
      [
        method("Get", .unary).unaryHandler { _, context in
          let fields = ["token", "own", "authorization"].map { context.headers[$0].joined(separator: "+") }
          return try Echo_EchoResponse.with { $0.text = fields.joined(separator: " ") }.serializedBytes()
        },
        method("Expand", .serverStreaming).serverStreamingHandler { request, responses, _ in
          let words = try Echo_EchoRequest(serializedBytes: request).text.split(separator: " ")
          for number in 0..<(Int(words[1]) ?? 0) {
            let response = try Echo_EchoResponse.with { $0.text = "\(number)" }.serializedBytes() as [UInt8]
            try await responses.send(response)
          }
          switch words[0] {
          case "hang":
            hangs.yield()
            try await Task.sleep(for: .seconds(3600))
          case "fail": throw GRPCStatus(code: .unavailable, message: "the server's own")
          default: break
          }
        },
      ]
    }
  }

  private func recording(
    adding metadata: HPACKHeaders = HPACKHeaders(),
    _ body: (Echo_EchoClient, MockRecorder, Channel, AsyncStream<Void>) async throws -> Void
  ) async throws {
    let schema = try MockServiceTests.schema()
    let recorder = MockRecorder(schema)
    let (stream, hangs) = AsyncStream<Void>.makeStream()
    try await MockServiceTests.serve([Server(hangs: hangs)]) { server, _ in
      let providers = recorder.providers(schema, to: server, adding: metadata)
      try await MockServiceTests.serve(providers) { proxy, _ in
        try await body(Echo_EchoClient(channel: proxy), recorder, server, stream)
      }
    }
  }

  private func expand(_ client: Echo_EchoClient, _ text: String) async throws -> Int {
    var count = 0
    for try await _ in client.expand(MockServiceTests.text(text)) { count += 1 }
    return count
  }

  @Test func streamsThatAreWholeAreRecorded() async throws {
    try await recording { client, recorder, _, _ in
      #expect(try await expand(client, "whole 1000") == 1000)
      let error = await #expect(throws: GRPCStatus.self) { try await expand(client, "fail 2") }
      #expect(error?.message == "the server's own")
      let text = try #require(recorder.changes()?.text)
      #expect(text.split(separator: "\n").count { $0.hasPrefix("      - ") } == 1002)
      #expect(text.contains("status: {code: UNAVAILABLE, message: \"the server's own\"}"))
      #expect(recorder.counts.left == (0, 0))
    }
  }

  @Test func aStreamWithTooManyMessagesIsLeftOut() async throws {
    try await recording { client, recorder, _, _ in
      let count = try await expand(client, "whole 1001")
      #expect(count == 1001)
      #expect(recorder.changes() == nil)
      #expect(recorder.counts.left == (0, 1))
    }
  }

  @Test(arguments: [false, true]) func aStreamThatIsCutShortIsLeftOut(_ byCaller: Bool) async throws {
    try await recording { client, recorder, server, hangs in
      let call = client.makeExpandCall(MockServiceTests.text("hang 2"))
      for await _ in hangs { break }
      // Either the caller leaves, or the connection to the server breaks.
      if byCaller { call.cancel() } else { await server.shutDown(grace: .zero) }
      _ = await call.status
      while recorder.counts.left.partial == 0, !Task.isCancelled { await Task.yield() }
      #expect(recorder.changes() == nil)
    }
  }

  @Test func forwardedCallsHaveTheMetadataOfTheRecording() async throws {
    try await recording(adding: ["token": "recorder's", "authorization": "secret"]) {
      client,
      recorder,
      _,
      _ in
      var options = CallOptions()
      options.initialMetadata = ["own": "caller's", "token": "caller's"]
      let answer = try await client.get(MockServiceTests.text("x"), callOptions: options)
      #expect(answer.text == "recorder's caller's secret")
      // The metadata is not in the rules; here, the answer repeats it.
      let text = try #require(recorder.changes()?.text)
      #expect(text.split(separator: "\n").filter { $0.contains("secret") }.count == 1)
    }
  }
}
