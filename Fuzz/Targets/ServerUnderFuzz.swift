import CallTestSupport
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A complete server with its loop and handlers, which receives arbitrary bytes from a client.
struct ServerUnderFuzz {
  /// One per process: an earlier input must not affect it.
  static let shared = Result { try ServerUnderFuzz(web: nil, greeting: preface) }
  /// A server that also accepts gRPC-Web, Connect and HTTP/1.1, and has a page.
  static let ofPages = Result {
    try ServerUnderFuzz(web: WebOptions(origins: .only(["http://a"])), greeting: [])
  }

  private let server: Server
  private let loop: Loop
  private let greeting: [UInt8]

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  private init(web: WebOptions?, greeting: [UInt8]) throws {
    let group = try LoopGroup()
    var options = ServerOptions()
    options.logger = .quiet
    options.web = web
    if web != nil {
      options.payloadFormats = [FuzzedFormat()]
      options.pages = [
        HTTPPage("POST", "/p", bodyLimit: 100) { HTTPPage.Response(contentType: "a/b", body: $0.body) },
        HTTPPage("GET", "/p") { HTTPPage.Response(contentType: "a/b", body: ($0.query ?? "").utf8) },
      ]
    }
    loop = group.loops[0]
    server = try Server(providers: [FuzzedService()], options: options, group: group)
    self.greeting = greeting
  }

  fileprivate func run(_ input: [UInt8]) throws {
    guard !input.isEmpty else { return }
    let (core, loop) = (server.core, loop)
    let client = try FedSocket(on: loop) { core.accept($0, .unix(path: ""), peer: nil, on: loop) }
    try client.feed(input, after: greeting)
  }
}

extension Result<ServerUnderFuzz, any Error> {
  func run(_ input: [UInt8]) throws { try get().run(input) }
}

/// Bytes by a name, which the content types of Connect have.
private struct FuzzedFormat: PayloadFormat {
  var contentSubtype: ContentSubtype { .proto }

  func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
    BytesMarshaller() as? any Marshaller<Message>
  }
}

/// A service with one method of each kind, with short paths.
struct FuzzedService: CallHandlerProvider {
  var serviceName: String { "f" }

  var methodHandlers: [MethodHandler] {
    return [
      MethodDescriptor(service: "f", method: "U", type: .unary).bytes.unaryHandler { request, context in
        context.setTrailers(context.headers)
        return request
      },
      MethodDescriptor(service: "f", method: "G", type: .unary, idempotency: .noSideEffects).bytes
        .unaryHandler {
          request,
          context in
          context.setCompression(.brotli)
          return request
        },
      MethodDescriptor(service: "f", method: "S", type: .serverStreaming).bytes.serverStreamingHandler {
        request,
        responses,
        context in
        context.setCompression(.gzip)
        for byte in request.prefix(8) { try await responses.send([byte]) }
      },
      MethodDescriptor(service: "f", method: "C", type: .clientStreaming).bytes.clientStreamingHandler {
        requests,
        _ in
        var all: [UInt8] = []
        for try await request in requests { all += request }
        return all
      },
      MethodDescriptor(service: "f", method: "B", type: .bidirectionalStreaming).bytes
        .bidirectionalStreamingHandler { requests, responses, _ in
          for try await request in requests { try await responses.send(request) }
        },
    ]
  }
}
