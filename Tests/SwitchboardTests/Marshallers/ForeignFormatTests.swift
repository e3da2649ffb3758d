import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// What HTTP clients get of methods whose messages are not protobuf, and what is said to those that send it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ForeignFormatTests {
  private enum Mixed {
    static let ask = Method(
      MethodDescriptor(service: "shop.Mixed", method: "Ask", type: .unary),
      requests: CodableJSONMarshaller<String>(),
      responses: PointMarshaller()
    )
    static let handlers = ServiceHandlers(
      ServiceDescriptor("shop.Mixed", [ask.descriptor]),
      [ask.unaryHandler { _, _ in Point(x: 1, y: 2) }]
    )
  }

  private func serving(_ body: (String) throws -> Void) async throws {
    var options = ServerOptions()
    options.web = WebOptions()
    try await withServer([Stock.handlers, Mixed.handlers], options: options) { _, address async throws in
      let address = "\(address)"
      try body("http://\(address.dropFirst("ipv4:".count))")
    }
  }

  private func post(_ data: String, as type: String, to url: String) throws -> (head: String, body: String) {
    let words = ["-s", "-i", "--max-time", "60", "-H", "content-type: \(type)", "--data-binary", data, url]
    let run = try Command.run("curl", words)
    let text = String(decoding: run.output.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts[0].lowercased() + "\n", parts.count > 1 ? String(parts[1]) : "")
  }

  @Test func codableMethodsAnswerJSONByConnect() async throws {
    try await serving { url in
      let found = try post(#"{"name":"kettle"}"#, as: "application/json", to: "\(url)/shop.Stock/Find")
      #expect(found.head.hasPrefix("http/1.1 200") && found.head.contains("content-type: application/json\n"))
      #expect(found.body.contains("\"kettle\"") && found.body.contains("\"count\":3"))
    }
  }

  @Test func protobufIsRefusedByName() async throws {
    try await serving { url in
      let refused = try post("", as: "application/proto", to: "\(url)/shop.Stock/Find")
      #expect(refused.head.hasPrefix("http/1.1 415"))
      #expect(refused.head.contains("accept-post: application/json\n"))
      #expect(
        refused.body.contains("it takes application/json: its messages are not protobuf"),
        "\(refused.body)"
      )
      let label = try post("", as: "application/json", to: "\(url)/shop.Stock/Label")
      #expect(label.head.contains("accept-post: application/point\n"), "\(label.head)")
      let mixed = try post("\"a\"", as: "application/json", to: "\(url)/shop.Mixed/Ask")
      #expect(mixed.body.contains("are of different formats"), "\(mixed.body)")
    }
  }

  /// What has no JSON yet gets it by a format, or by messages that are `Codable`.
  @Test func jsonThatAMethodLacksIsExplained() async throws {
    for hasFormat in [false, true] {
      var options = ServerOptions()
      options.web = WebOptions()
      options.payloadFormats = hasFormat ? [JSONFormat()] : []
      let providers: [any CallHandlerProvider] = [Stock.handlers, TutorialProvider()]
      try await withServer(providers, options: options) { _, address async throws in
        let url = "http://\("\(address)".dropFirst("ipv4:".count))"
        let label = try post("{}", as: "application/json", to: "\(url)/shop.Stock/Label")
        let echo = try post(#"{"text":"x"}"#, as: "application/json", to: "\(url)/echo.Echo/Get")
        let advice = "for JSON, the server needs ServerOptions.payloadFormats = [JSONFormat()]"
        if hasFormat {
          #expect(label.body.contains("which are neither protobuf nor Codable"), "\(label.body)")
          #expect(echo.head.hasPrefix("http/1.1 200"))
        } else {
          #expect(label.body.contains(advice), "\(label.body)")
          #expect(echo.body.contains(advice), "\(echo.body)")
        }
      }
    }
  }

  @Test func gRPCIsToldTheFormatsToo() async throws {
    let channel = try Channel(inProcess: [Stock.handlers])
    let proto = Method(Stock.find.descriptor, requests: NamedProto(), responses: NamedProto())
    let error = await #expect(throws: GRPCStatus.self) {
      try await MethodClient(channel: channel).call(proto).unary([])
    }
    #expect(error?.code == .unimplemented)
    #expect(
      error?.message?.hasSuffix("it takes application/grpc+json: its messages are not protobuf") == true
    )
    await channel.shutDown()
  }

  private struct NamedProto: Marshaller {
    var contentSubtype: ContentSubtype { .proto }
    func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }
    func decode(_ bytes: RawSpan) -> [UInt8] { BytesMarshaller().decode(bytes) }
  }
}
