import EchoService
import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
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

  /// Doubles and a map.
  static let numbers = Google_Protobuf_FileDescriptorProto.with { file in
    file.name = "numbers.proto"
    file.syntax = "proto3"
    let fields: [(String, Google_Protobuf_FieldDescriptorProto.TypeEnum)] = [
      ("numbers", .double), ("names", .message),
    ]
    file.messageType = [
      .with { message in
        message.name = "Numbers"
        message.field = fields.enumerated().map { index, field in
          .with {
            $0.name = field.0
            $0.jsonName = field.0
            $0.number = Int32(index + 1)
            $0.type = field.1
            $0.label = .repeated
            if field.1 == .message { $0.typeName = ".Numbers.NamesEntry" }
          }
        }
        message.nestedType = [
          .with { entry in
            entry.name = "NamesEntry"
            entry.options.mapEntry = true
            entry.field = ["key", "value"].enumerated().map { index, name in
              .with {
                $0.name = name
                $0.jsonName = name
                $0.number = Int32(index + 1)
                $0.type = index == 0 ? .string : .int32
                $0.label = .optional
              }
            }
          }
        ]
      }
    ]
    file.service = [
      .with {
        $0.name = "Counting"
        $0.method = [
          .with {
            $0.name = "Count"
            $0.inputType = ".Numbers"
            $0.outputType = ".Numbers"
          }
        ]
      }
    ]
  }

  /// Numbers that are equal though they are written differently, and names that look alike.
  @Test func aRecordingOfLikeRequestsCanBeRead() throws {
    let schema = try MockSchema([Self.numbers])
    let recorder = MockRecorder(schema)
    let method = try #require(schema.methods(matching: "*").first)
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    for request in [
      #"{"numbers": [0.5]}"#, #"{"names": {"a": 1}}"#, #"{"names": {"\#(composed)": 1}}"#,
      #"{"names": {"\#(decomposed)": 1}}"#, #"{"names": {"\#(composed)": 2}}"#,
      #"{"numbers": ["NaN"]}"#, #"{"numbers": ["NaN"]}"#, #"{"numbers": [0]}"#, #"{"numbers": [-0.0]}"#,
    ] {
      recorder.record(try call(method, request))
    }
    let text = try #require(recorder.changes()?.text)
    #expect(recorder.counts.rules == 7, "\(text)")
    let rules = try MockRules(text, schema)
    let request = try DynamicMessage(method.request, jsonString: #"{"names": {"\#(decomposed)": 1}}"#)
    #expect(rules.rule(for: request, of: method) != nil)
  }

  private func call(_ method: MockMethod, _ request: String) throws -> RecordedCall {
    let message = try DynamicMessage(method.request, jsonString: request)
    return RecordedCall(method: method, request: try message.serializedBytes(), responses: [[]])
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
