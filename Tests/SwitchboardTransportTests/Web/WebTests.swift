import Foundation
import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// gRPC-Web over HTTP/2, frame by frame.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct WebTests {
  private static var options: ServerOptions {
    var options = ServerOptions()
    options.web = WebOptions(origins: .only(["https://a.example"]))
    options.web?.exposedHeaders = ["one"]
    return options
  }

  private func with(
    _ options: ServerOptions = Self.options,
    _ body: (FramePeer, TestPair) async throws -> Void
  ) async throws {
    try await TestPair.with(server: options) { pair async throws in
      try await body(try FramePeer(pair.address), pair)
    }
  }

  @Test(arguments: [
    "https://a.example/", "https://a.example/page", "a.example", "*", "", "://a", "https://A.example",
    "HTTPS://a.example",
    "https://a.example:443", "http://a.example:80", "https://a example", "https://*.example",
    "https://a.example,https://c.example", "http://[", "http://[]", "http://[::1", "http://[::1]x",
    "http://::1",
    "http://[127.0.0.1]", "http://a:", "http://a:99999", "http://a:0", "http://a:08", "http://a:x", "http://",
    "http://:8080", "file:///", "http://a%20b", "http://127.1", "http://127.1:8080", "http://0x7f.0.0.1",
    "http://2130706433", "http://127.0.0.1.",
  ])
  func invalidOriginsAreRejected(_ text: String) throws {
    var options = ServerOptions()
    options.web = WebOptions(origins: .only(["https://b.example", text]))
    let failure = #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message?.hasPrefix("\"\(text)\" is not an origin as browsers write it") == true)
  }

  @Test func credentialsForPagesOfAnyOriginAreRejected() throws {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    options.web?.allowsCredentials = true
    let failure = #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message?.hasPrefix("allowsCredentials has no effect for pages of .any origin") == true)
  }

  @Test func originsOfAllSchemesAreAccepted() throws {
    var options = ServerOptions()
    options.web = WebOptions(
      origins: .only([
        "null", "http://localhost:8080", "https://a.example:8443", "http://[::1]:8080", "app://localhost",
        "file://",
        "http://a.example:443",
      ])
    )
    _ = try Server(providers: [], options: options)
  }

  private func request(_ path: String, _ more: [(String, String)], method: String = "POST") -> [(
    String, String
  )] {
    [(":method", method), (":scheme", "http"), (":path", path), (":authority", "test")] + more
  }

  private func call(_ method: String, _ type: String, _ more: [(String, String)] = []) -> [(String, String)] {
    request("/test.Test/\(method)", [("content-type", "application/grpc-web\(type)")] + more)
  }

  /// What is no answer of the protocol is sent once, and ends.
  @Test(arguments: [
    "application/grpc-web+proto", "application/grpc-web-text", "application/proto",
    "application/connect+proto",
  ])
  func aForeignHostIsRefusedInOneAnswer(_ type: String) async throws {
    var options = Self.options
    options.hosts = HostNames([])
    try await with(options) { peer, _ async throws in
      let path = type.contains("connect+") ? "Update" : "Get"
      peer.headers(1, request("/test.Test/\(path)", [("content-type", type)]))
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      let head = try #require(peer.nextHeaders())
      #expect(head.fields[":status"] == "421" && !head.ends)
      let frame = try #require(peer.next())
      #expect(frame.type == FramePeer.Kind.data && frame.endsStream)
      #expect(head.fields["content-length"] == "\(frame.payload.count)")
      // Nothing follows on the stream.
      peer.send(FramePeer.Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      while let next = peer.next(), next.type != FramePeer.Kind.ping { #expect(next.stream != 1) }
    }
  }

  private func body(_ peer: FramePeer) -> [UInt8] {
    var body: [UInt8] = []
    while let frame = peer.next(FramePeer.Kind.data) {
      body += frame.payload
      if frame.endsStream { break }
    }
    return body
  }

  @Test(arguments: ["", "+proto", "+named", ";charset=utf-8"])
  func trailersComeAsTheLastMessage(_ type: String) async throws {
    try await with { peer, _ async throws in
      let isNamed = type == "+named"
      peer.headers(1, call(isNamed ? "Named" : "Get", type == "+proto" ? "" : type))
      peer.data(1, WebMessages.frame([1, 2, 3]), ends: true)
      let head = try #require(peer.nextHeaders())
      #expect(head.fields[":status"] == "200")
      #expect(
        head.fields["content-type"] == (isNamed ? "application/grpc-web+named" : "application/grpc-web")
      )
      #expect(head.ends == false)
      let trailers = [0x80, 0, 0, 0, 15] + Array("grpc-status:0\r\n".utf8)
      #expect(body(peer) == WebMessages.frame([1, 2, 3]) + trailers)
    }
  }

  @Test func textIsBase64BothWays() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, call("Expand", "-text"))
      // Two pieces, each padded separately, split within a group.
      let text = [
        Array(WebMessages.frame([1, 2, 3]).prefix(4)), Array(WebMessages.frame([1, 2, 3]).dropFirst(4)),
      ]
      .map { Data($0).base64EncodedString() }.joined()
      peer.data(1, Array(text.utf8.prefix(3)))
      peer.data(1, Array(text.utf8.dropFirst(3)), ends: true)
      #expect(try #require(peer.nextHeaders()).fields["content-type"] == "application/grpc-web-text")
      let decoded = try #require(WebMessages.bytes(ofText: body(peer)))
      let all = WebMessages(decoded)
      #expect(all.messages == [[1], [2], [3]])
      #expect(all.trailers["grpc-status"] == "0")
    }
  }

  @Test(arguments: [100, 5000, 45_000]) func largeTextArrivesComplete(_ count: Int) async throws {
    try await with { peer, _ async throws in
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
      let text = Array(Data(WebMessages.frame(message)).base64EncodedString().utf8)
      // Room for the whole response at once, as HTTP/2 grants the request by default.
      peer.send(FramePeer.Kind.windowUpdate, 0, 0, FramePeer.number(1 << 20))
      peer.headers(1, call("Get", "-text"))
      peer.send(FramePeer.Kind.windowUpdate, 0, 1, FramePeer.number(1 << 20))
      for start in stride(from: 0, to: text.count, by: 16_000) {
        peer.data(1, Array(text[start..<min(start + 16_000, text.count)]), ends: start + 16_000 >= text.count)
      }
      let decoded = try #require(WebMessages.bytes(ofText: body(peer)))
      #expect(WebMessages(decoded).messages == [message])
      #expect(WebMessages(decoded).trailers["grpc-status"] == "0")
    }
  }

  @Test(arguments: ["!!!!", "A===", "AAAAA", "AA=A"]) func brokenTextEndsTheCall(_ text: String) async throws
  {
    try await with { peer, _ async throws in
      peer.headers(1, call("Get", "-text"))
      peer.data(1, Array(text.utf8), ends: true)
      let decoded = try #require(WebMessages.bytes(ofText: body(peer)))
      #expect(WebMessages(decoded).messages.isEmpty)
      #expect(WebMessages(decoded).trailers["grpc-status"] == "13")
    }
  }

  @Test func anErrorIsInTheTrailersOfTheBody() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, call("Fail", ""))
      peer.data(1, WebMessages.frame(Array("no: ü".utf8)), ends: true)
      #expect(try #require(peer.nextHeaders()).fields["grpc-status"] == nil)
      let trailers = WebMessages(body(peer)).trailers
      #expect(trailers == ["grpc-status": "9", "grpc-message": "no: %C3%BC", "why": "asked to"])
    }
  }

  @Test func anUnknownMethodIsUnimplemented() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, call("Missing", ""), ends: true)
      #expect(WebMessages(body(peer)).trailers["grpc-status"] == "12")
    }
  }

  @Test func requestsMayBeStreamed() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, call("Collect", ""))
      peer.data(1, WebMessages.frame([1]))
      peer.data(1, WebMessages.frame([2]), ends: true)
      #expect(WebMessages(body(peer)).messages == [[1, 2]])
    }
  }

  @Test func gRPCCallsStillWork() async throws {
    try await with { peer, pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
      peer.headers(1, FramePeer.call("Get"))
      peer.data(1, WebMessages.frame([7]), ends: true)
      #expect(try #require(peer.nextHeaders()).fields["content-type"] == "application/grpc")
      #expect(try #require(peer.nextHeaders()).fields["grpc-status"] == "0")
    }
  }

  @Test func gRPCWebIsRejectedUnlessEnabled() async throws {
    try await with(ServerOptions()) { peer, _ async throws in
      peer.headers(1, call("Get", ""), ends: true)
      #expect(try #require(peer.nextHeaders()).fields[":status"] == "415")
    }
  }

  // MARK: CORS

  private let question = [
    ("access-control-request-method", "POST"),
    ("access-control-request-headers", "content-type,x-grpc-web,mine"),
  ]

  @Test func aPreflightIsAnswered() async throws {
    try await with { peer, _ async throws in
      peer.headers(
        1,
        request("/test.Test/Get", [("origin", "https://a.example")] + question, method: "OPTIONS"),
        ends: true
      )
      let (fields, ends) = try #require(peer.nextHeaders())
      #expect(ends)
      #expect(
        fields == [
          ":status": "204", "vary": "origin", "access-control-allow-origin": "https://a.example",
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": "content-type,x-grpc-web,mine", "access-control-max-age": "7200",
        ]
      )
    }
  }

  @Test func theMetadataOfPagesCanBeLimited() async throws {
    var options = Self.options
    options.web?.allowedHeaders = ["tenant"]
    options.web?.allowsCredentials = true
    options.web?.maxAge = .seconds(5)
    try await with(options) { peer, _ async throws in
      peer.headers(
        1,
        request("/test.Test/Get", [("origin", "https://a.example")] + question, method: "OPTIONS"),
        ends: true
      )
      let fields = try #require(peer.nextHeaders()).fields
      // Without what the protocols send themselves, pages could make no calls.
      let own =
        "content-type,x-grpc-web,x-user-agent,grpc-timeout,connect-protocol-version,connect-timeout-ms"
      #expect(fields["access-control-allow-headers"] == own + ",tenant")
      #expect(fields["access-control-allow-credentials"] == "true")
      #expect(fields["access-control-max-age"] == "5")
    }
  }

  @Test(arguments: ["OPTIONS", "POST"]) func otherOriginsAreRefused(_ method: String) async throws {
    try await with { peer, pair async throws in
      let type = [("content-type", "application/grpc-web"), ("origin", "https://b.example")]
      peer.headers(1, request("/test.Test/Stubborn", type + question, method: method), ends: true)
      let fields = try #require(peer.nextHeaders()).fields
      #expect(fields[":status"] == "403")
      #expect(fields["access-control-allow-origin"] == nil)
      #expect(pair.service.stubborn.value == 0)
    }
  }

  @Test(arguments: [true, false]) func aResponseNamesTheOriginThatMayReadIt(_ isForAll: Bool) async throws {
    var options = Self.options
    if isForAll { options.web?.origins = .any }
    try await with(options) { peer, _ async throws in
      peer.headers(1, call("Get", "", [("origin", "https://a.example")]))
      peer.data(1, WebMessages.frame([1]), ends: true)
      let fields = try #require(peer.nextHeaders()).fields
      #expect(fields["access-control-allow-origin"] == (isForAll ? "*" : "https://a.example"))
      #expect(fields["vary"] == (isForAll ? nil : "origin"))
      #expect(
        fields["access-control-expose-headers"] == "grpc-status,grpc-message,grpc-status-details-bin,one"
      )
    }
  }

  @Test func optionsWithoutPreflightAreRejected() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request("/test.Test/Get", [], method: "OPTIONS"), ends: true)
      #expect(try #require(peer.nextHeaders()).fields[":status"] == "405")
    }
  }
}
