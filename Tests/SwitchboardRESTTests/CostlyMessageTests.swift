import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardREST
import Testing

/// The messages that take longest to read for their size, by every way into a server: calls of others wait for no more than
/// a turn of the loop.
///
/// One test at a time: messages are decoded by threads of low priority, which bystanders on other loops would keep waiting.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CostlyMessageTests {
  /// A protocol, on a version of HTTP, with or without TLS.
  struct Way: Sendable, CustomTestStringConvertible {
    let name: String
    var wireProtocol = CallProtocol.connect
    var version = HTTPVersion.negotiated
    var isSecure = false
    var format = ContentSubtype.proto
    var isREST = false
    var testDescription: String { name }

    static let all = [
      Way(name: "gRPC", wireProtocol: .grpc),
      Way(name: "gRPC, TLS", wireProtocol: .grpc, isSecure: true),
      Way(name: "gRPC-Web", wireProtocol: .grpcWeb),
      Way(name: "gRPC-Web, TLS", wireProtocol: .grpcWeb, isSecure: true),
      Way(name: "gRPC-Web, HTTP/1.1", wireProtocol: .grpcWeb, version: .http1),
      Way(name: "gRPC-Web, HTTP/1.1, TLS", wireProtocol: .grpcWeb, version: .http1, isSecure: true),
      Way(name: "Connect"),
      Way(name: "Connect, TLS", isSecure: true),
      Way(name: "Connect, HTTP/1.1", version: .http1),
      Way(name: "Connect, HTTP/1.1, TLS", version: .http1, isSecure: true),
      Way(name: "Connect, JSON", format: .json),
      Way(name: "Connect, JSON, HTTP/1.1", version: .http1, format: .json),
      Way(name: "REST", format: .json, isREST: true),
      Way(name: "REST, HTTP/1.1", version: .http1, format: .json, isREST: true),
      Way(name: "REST, TLS", isSecure: true, format: .json, isREST: true),
    ]

    /// A unary call in Connect with JSON is a request that REST understands too.
    var call: Method<BytesMarshaller, BytesMarshaller> {
      let descriptor =
        isREST
        ? MethodDescriptor(service: "v1", method: "all", type: .unary)
        : MethodDescriptor(service: "testing.rest.Rest", method: "Create", type: .unary)
      return Method(descriptor, requests: BytesMarshaller(format), responses: BytesMarshaller(format))
    }

    func channel(to address: SocketAddress, group: LoopGroup) throws -> Channel {
      var options = ChannelOptions()
      options.wireProtocol = wireProtocol
      options.httpVersion = version
      if isSecure { options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority)) }
      return try Channel(target: "\(address)", options: options, group: group)
    }

    var messages: [Costly] { format == .json ? Costly.texts : Costly.binaries }
  }

  /// A message that takes long to read.
  struct Costly: Sendable {
    let name: String
    let bytes: [UInt8]
    /// Whether it is not a valid message, or larger than allowed.
    let isRefused: Bool

    init(_ name: String, _ bytes: [UInt8], isRefused: Bool = false) {
      (self.name, self.bytes, self.isRefused) = (name, bytes, isRefused)
    }

    private static let size = 300_000
    /// Those of the loop, which decodes them if few come at a time.
    private static let smallSize = 15_000

    /// Marks that normalization sorts: they come in the wrong order.
    private static let marks = "a" + String(repeating: "\u{301}\u{316}", count: 12_000)

    private static func many(_ piece: [UInt8], _ size: Int = size) -> [UInt8] {
      Array(repeatElement(piece, count: size / piece.count).joined())
    }

    /// A field of bytes or of a message.
    private static func field(_ number: Int, _ content: [UInt8]) -> [UInt8] {
      varint(number << 3 | 2) + varint(content.count) + content
    }

    private static func varint(_ number: Int) -> [UInt8] {
      number < 128 ? [UInt8(number)] : [UInt8(number & 127 | 128)] + varint(number >> 7)
    }

    static let binaries = [
      Costly("submessages", many(field(16, []))),
      Costly("small submessages", many(field(16, []), smallSize)),
      // Field 100.
      Costly("unknown groups", many([0xa3, 6, 0xa4, 6])),
      Costly("values", field(30, field(6, many(field(1, []))))),
      Costly("a key of marks", field(17, field(1, Array(marks.utf8))), isRefused: true),
      Costly("a member of marks", field(31, field(1, field(1, Array(marks.utf8)))), isRefused: true),
      Costly("a type of marks", field(32, field(1, Array(marks.utf8)))),
      Costly("a path of marks", field(23, field(1, Array(marks.utf8)))),
      Costly("nested groups", many([0xa3, 6]), isRefused: true),
      Costly("nothing, too often", [UInt8](repeating: 0, count: 5 << 20), isRefused: true),
    ]

    private static func list(_ head: String, _ element: String, _ tail: String, _ size: Int = size) -> [UInt8]
    {
      let elements = repeatElement(element, count: size / (element.utf8.count + 1)).joined(separator: ",")
      return Array((head + elements + tail).utf8)
    }

    static let texts = [
      Costly("submessages", list(#"{"inners":["#, "{}", "]}")),
      Costly("small submessages", list(#"{"inners":["#, "{}", "]}", smallSize)),
      Costly("values", list(#"{"value":["#, "[]", "]}")),
      Costly("members", list(#"{"struct":{"#, #""":0"#, "}}"), isRefused: true),
      Costly("a key of marks", Array(#"{"labels":{"\#(marks)":""}}"#.utf8), isRefused: true),
      Costly("a member of marks", Array(#"{"struct":{"\#(marks)":0}}"#.utf8), isRefused: true),
      Costly("an unknown member of marks", Array(#"{"\#(marks)":0}"#.utf8), isRefused: true),
      Costly("an unknown name of marks", Array(#"{"color":"\#(marks)"}"#.utf8), isRefused: true),
      Costly("a type of marks", Array(#"{"any":{"@type":"\#(marks)"}}"#.utf8), isRefused: true),
      Costly("a path of marks", Array(#"{"mask":"\#(marks)"}"#.utf8), isRefused: true),
      Costly("nested objects", list(#"{"inner":"#, #"{"deeper":"#, ""), isRefused: true),
      Costly("nothing, too often", [UInt8](repeating: 32, count: 5 << 20), isRefused: true),
    ]
  }

  @Test(arguments: Way.all) func othersDoNotWait(_ way: Way) async throws {
    try await attack(way, [.none], with: way.messages)
  }

  @Test(arguments: Way.all.filter { ["gRPC", "gRPC-Web", "Connect, HTTP/1.1", "REST"].contains($0.name) })
  func othersDoNotWaitForCompressedMessages(_ way: Way) async throws {
    let names: Set = ["submessages", "small submessages", "nothing, too often"]
    let messages = way.messages.filter { names.contains($0.name) }
    try await attack(way, [.gzip, .deflate, .zstd, .brotli], with: messages)
  }

  private func attack(_ way: Way, _ compressions: [MessageCompression], with messages: [Costly]) async throws
  {
    let group = try LoopGroup()
    let providers: [any CallHandlerProvider] = [RESTProvider(returnsCreated: false)]
    let options = try Self.options(way, providers)
    try await withServer(providers, options: options, group: group) { _, address async throws in
      try await withChannel(way.channel(to: address, group: LoopGroup())) { attacker async throws in
        try await withChannel(way.channel(to: address, group: group)) { honest async throws in
          try await attack(way, compressions, with: messages, from: attacker, besides: honest)
        }
      }
    }
  }

  private func attack(
    _ way: Way,
    _ compressions: [MessageCompression],
    with messages: [Costly],
    from attacker: Channel,
    besides honest: Channel
  ) async throws {
    let small: [UInt8] = way.format == .json ? Array("{}".utf8) : []
    let bystander = Bystander(on: honest.eventLoop) {
      _ = try await MethodCall(way.call, on: honest, options: nil).unary(small)
    }
    for message in messages {
      for compression in compressions {
        let waits = try await Bystander.trying {
          try await bystander.waits {
            await Self.call(way.call, message, on: attacker, CallOptions(compression: compression))
          }
        }
        #expect(waits.areShort, "\(message.name), \(compression): \(waits)")
      }
    }
  }

  /// Makes some calls at once.
  private static func call(
    _ method: Method<BytesMarshaller, BytesMarshaller>,
    _ message: Costly,
    on channel: Channel,
    _ options: CallOptions
  ) async {
    await withTaskGroup { calls in
      for _ in 0..<2 {
        calls.addTask {
          let failure = await Self.failure {
            _ = try await MethodCall(method, on: channel, options: options).unary(message.bytes)
          }
          #expect((failure != nil) == message.isRefused, "\(message.name): \(String(describing: failure))")
        }
      }
    }
  }

  private static func options(_ way: Way, _ providers: [any CallHandlerProvider]) throws -> ServerOptions {
    var options = ServerOptions()
    options.web = WebOptions()
    options.payloadFormats = [ProtobufFormat(), JSONFormat()]
    if way.isREST { try options.serveREST(providers, options: RESTOptions()) }
    if way.isSecure { options.tls = ServerTLS(credentials: TestCertificates.server) }
    return options
  }

  private static func failure(of call: () async throws -> Void) async -> GRPCStatus? {
    do {
      try await call()
      return nil
    } catch { return GRPCStatus(describing: error) }
  }
}
