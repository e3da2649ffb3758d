import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// The command against methods whose messages are not protobuf, as the server's reflection says.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ForeignPayloadTests {
  private struct Item: Codable, Sendable {
    var name: String
    var count: Int64
  }

  private enum Stock {
    static let find = CodableMethod<String, Item>("shop.Stock", "Find", .unary)
    static let list = CodableMethod<Item, Item>("shop.Stock", "List", .bidirectionalStreaming)
    static let label = Method(
      MethodDescriptor(service: "shop.Stock", method: "Label", type: .unary),
      requests: BytesMarshallerOf(contentSubtype: "label"),
      responses: BytesMarshallerOf(contentSubtype: "label")
    )
    static let handlers = ServiceHandlers(
      ServiceDescriptor("shop.Stock", [find.descriptor, list.descriptor, label.descriptor]),
      [
        find.unaryHandler { name, _ in
          // Too large for a number that JavaScript, or protobuf's Value, can hold.
          Item(name: name, count: 9_007_199_254_740_993)
        },
        list.bidirectionalStreamingHandler { items, responses, _ in
          for try await item in items { try await responses.send(item) }
        },
        label.unaryHandler { bytes, _ in bytes.reversed() },
      ]
    )
  }

  /// A format that the command does not read.
  private struct BytesMarshallerOf: Marshaller {
    let contentSubtype: ContentSubtype
    func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }
    func decode(_ bytes: RawSpan) -> [UInt8] { BytesMarshaller().decode(bytes) }
  }

  /// `echo.Echo`, as the generator makes it with a mapping for requests of one method.
  private struct MappedEcho: CallHandlerProvider {
    let serviceName = "echo.Echo"
    let reflectionData = Echo_EchoMetadata.reflectionData
    var methodHandlers: [MethodHandler] {
      let get = Method(
        Echo_EchoMetadata.Methods.get.descriptor,
        requests: CodableJSONMarshaller<Item>(),
        responses: ProtobufMarshaller<Echo_EchoResponse>()
      )
      return [get.unaryHandler { item, _ in .with { $0.text = "\(item.count) \(item.name)" } }]
    }
  }

  private func serving(_ body: (String) throws -> Void) async throws {
    let services: [any CallHandlerProvider] = [MappedEcho(), Stock.handlers]
    var options = ServerOptions()
    options.web = WebOptions()
    try await withServer(services + [try ReflectionService(describing: services)], options: options) {
      _,
      address async throws in
      try body("\(address)")
    }
  }

  @Test func codableMethodsGetTheirJSON() async throws {
    try await serving { target in
      for flags in [[], ["--protocol", "connect"], ["--protocol", "grpc-web", "--http1"]] {
        let words = ["call", target, "shop.Stock/Find", "-d", "\"kettle\""] + flags
        let found = try Command.product("switchboard", words)
        let output = String(decoding: found.output, as: UTF8.self)
        #expect(output.contains("9007199254740993") && output.contains("\"kettle\""), "\(found.errors)")
      }
      let listed = try Run(
        "call",
        target,
        "shop.Stock/List",
        input: #"{"name":"a","count":1} {"name":"b","count":2}"#
      )
      #expect(listed.output.split(separator: "\n").count == 2, "\(listed.errors)")
      #expect(listed.output.contains("\"b\""))
    }
  }

  @Test func eachDirectionHasItsOwnFormat() async throws {
    try await serving { target in
      let got = try Run("call", target, "echo.Echo/Get", "-d", #"{"name": "pan", "count": 2}"#)
      #expect(got.output == "{\"text\":\"2 pan\"}\n", "\(got.errors)")
      // Bytes of a format that the command does not know are a string in base64.
      let label = try Run("call", target, "shop.Stock/Label", "-d", "\"AQID\"")
      #expect(label.output == "\"AwIB\"\n", "\(label.errors)")
    }
  }

  @Test func mistakesAreNamed() async throws {
    try await serving { target in
      let broken = try Run("call", target, "shop.Stock/Find", "-d", "[1,")
      #expect(broken.exitCode == 65 && broken.errors.contains("-d"), "\(broken.errors)")
      let wrong = try Run("call", target, "shop.Stock/Find", "-d", "1")
      #expect(wrong.exitCode != 0 && wrong.errors.contains("is not a string"), "\(wrong.errors)")
      let text = try Run("call", target, "shop.Stock/Find", "--format", "text", "-d", "x: 1")
      #expect(text.exitCode == 64 && text.errors.contains("the requests of shop.Stock/Find are json"))
      let template = try Run("call", target, "shop.Stock/Find", "--template")
      #expect(template.exitCode == 64 && template.errors.contains("are not protobuf"), "\(template.errors)")
    }
  }

  @Test func describeSaysWhatIsOnTheWire() async throws {
    try await serving { target in
      let mapped = try Run("describe", target, "echo.Echo/Get").output
      #expect(
        mapped.hasPrefix("// On the wire, requests are json: of these, the message is but a name.\nrpc Get("),
        "\(mapped)"
      )
      let codable = try Run("describe", target, "shop.Stock").output
      #expect(codable.contains("requests are json and responses are json"), "\(codable)")
      #expect(codable.contains("rpc List(stream Stock_ListRequest) returns (stream Stock_ListResponse);"))
      #expect(try Run("list", target, "shop.Stock").output.contains("shop.Stock/Label\n"))
    }
  }

  @Test func loadSendsWhatTheMethodTakes() async throws {
    try await serving { target in
      for data in ["\"kettle\"", "\"kettle {{i}}\""] {
        let load = try Run("load", target, "shop.Stock/Find", "-d", data, "-n", "20")
        #expect(load.exitCode == 0 && load.output.contains("Errors    0"), "\(load.output)\(load.errors)")
      }
    }
  }

  @Test func openAPIHasTheMediaType() async throws {
    try await serving { target in
      let run = try Run("openapi", target)
      let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
      let paths = try #require(document?["paths"] as? [String: Any])
      func types(_ path: String) -> [String] {
        let post = (paths[path] as? [String: Any])?["post"] as? [String: Any]
        let body = post?["requestBody"] as? [String: Any]
        return (body?["content"] as? [String: Any])?.keys.sorted() ?? []
      }
      #expect(types("/shop.Stock/Find") == ["application/json"])
      #expect(types("/shop.Stock/Label") == ["application/label"])
      // Nothing describes a method whose requests and responses are of two formats, or a stream.
      #expect(paths.keys.sorted() == ["/shop.Stock/Find", "/shop.Stock/Label"])
    }
  }
}
