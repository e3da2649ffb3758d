import CallTestSupport
import Foundation
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The Connect protocol of the server, byte by byte: what clients of other libraries rely on.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConnectTests {
  private func with(
    _ options: ServerOptions = WireProtocolTests.server,
    _ body: (ConnectPeer, TestPair) async throws -> Void
  ) async throws {
    try await TestPair.with(server: options) { pair async throws in
      try await body(ConnectPeer(try HTTP1Peer(pair.address)), pair)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  // MARK: Unary

  @Test func aBodyIsTheMessage() async throws {
    try await with { peer, _ async throws in
      for message in [[1, 2, 3], [], [UInt8](repeating: 9, count: 100_000)] as [[UInt8]] {
        let response = try #require(peer.post("Get", message))
        #expect(response.status == "200")
        #expect(response.fields["content-type"] == "application/proto")
        #expect(response.fields["content-length"] == "\(message.count)")
        #expect(response.fields["transfer-encoding"] == nil)
        #expect(response.body == message)
      }
    }
  }

  @Test func aBodyMayComeInChunks() async throws {
    try await with { peer, _ async throws in
      peer.http.send(
        ConnectPeer.head("POST", "/test.Test/Get", "application/proto", ["transfer-encoding: chunked"])
      )
      for chunk in ["1\r\na\r\n", "2\r\nbc\r\n", "0\r\n\r\n"] { peer.http.send(chunk) }
      #expect(peer.http.response()?.body == Array("abc".utf8))
    }
  }

  @Test func trailersAreHeadersWithAPrefix() async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.post("Reflect", [], ["one: a", "two-bin: AQI"]))
      #expect(response.fields["one"] == "a")
      #expect(response.fields["two-bin"] == "AQI")
      #expect(response.fields["trailer-one"] == "a")
      #expect(response.fields["trailer-two-bin"] == "AQI")
    }
  }

  @Test func anErrorIsJSON() async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.post("Fail", Array("no \"ü\"\n".utf8)))
      #expect(response.status == "400")
      #expect(response.fields["content-type"] == "application/json")
      #expect(response.fields["trailer-why"] == "asked to")
      #expect(response.text == #"{"code":"failed_precondition","message":"no \"ü\"\n"}"#)
    }
  }

  /// A detail is sent in base64, and in JSON too if the server can write its type.
  @Test func detailsAreShownInJSONAsTheOptionSays() {
    var status = GRPCStatus(code: .notFound, message: "gone")
    let names = ["x.Known", "x.Other"].map { Array("type.googleapis.com/\($0)".utf8) }
    status.packedDetails = names.flatMap { name in
      [0x1A, UInt8(name.count + 5), 0x0A, UInt8(name.count)] + name + [0x12, 1, 7]
    }
    let error = ConnectError { type, value in type == "x.Known" ? "{\"bytes\":\(value)}" : nil }
    #expect(
      String(decoding: error.json(of: status), as: UTF8.self)
        == #"{"code":"not_found","message":"gone","details":["#
        + #"{"type":"x.Known","value":"Bw","debug":{"bytes":[7]}},{"type":"x.Other","value":"Bw"}]}"#
    )
  }

  /// What is not JSON would make the whole body unreadable.
  @Test func aDetailThatIsNotJSONIsNotShown() {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries)
    var status = GRPCStatus(code: .notFound, message: "gone")
    let name = Array("type.googleapis.com/x.Known".utf8)
    status.packedDetails =
      [0x1A, UInt8(name.count + 5), 0x0A, UInt8(name.count)] + name + [0x12, 1, 7]
    let error = ConnectError(describe: { _, _ in "hello" }, refuse: options.detailReport)
    for _ in 0..<2 {
      #expect(
        String(decoding: error.json(of: status), as: UTF8.self)
          == #"{"code":"not_found","message":"gone","details":[{"type":"x.Known","value":"Bw"}]}"#
      )
    }
    #expect(entries.all.map(\.metadata) == [["type": "x.Known"]])
    #expect(entries.all.first?.message.contains("WebOptions.detailJSON returned what is not JSON") == true)
  }

  /// The statuses that the protocol assigns to the codes.
  @Test(arguments: [
    (GRPCStatus.Code.cancelled, "499", "canceled"), (.unknown, "500", "unknown"),
    (.invalidArgument, "400", "invalid_argument"), (.deadlineExceeded, "504", "deadline_exceeded"),
    (.notFound, "404", "not_found"), (.alreadyExists, "409", "already_exists"),
    (.permissionDenied, "403", "permission_denied"), (.resourceExhausted, "429", "resource_exhausted"),
    (.failedPrecondition, "400", "failed_precondition"), (.aborted, "409", "aborted"),
    (.outOfRange, "400", "out_of_range"), (.unimplemented, "501", "unimplemented"),
    (.internalError, "500", "internal"), (.unavailable, "503", "unavailable"),
    (.dataLoss, "500", "data_loss"), (.unauthenticated, "401", "unauthenticated"),
  ])
  func codesHaveNamesAndStatuses(_ sample: (code: GRPCStatus.Code, status: String, name: String)) {
    #expect("\(ConnectCode.httpStatus(sample.code))" == sample.status)
    #expect(ConnectCode.name(sample.code) == sample.name)
    #expect(ConnectCode.code(sample.name) == sample.code)
  }

  @Test(
    arguments: [
      ("/test.Test/Missing", "POST", "application/proto", [], "404", "unimplemented"),
      ("/test.Test/Get", "DELETE", "application/proto", [], "405", "unknown"),
      ("/test.Test/Named", "POST", "application/foo", [], "415", "unknown"),
      ("/test.Test/Get", "POST", "image/jpeg", [], "415", ""),
      ("/test.Test/Get", "POST", "application/pro@to", [], "415", "unknown"),
      ("/test.Test/Get", "POST", "application/connect+proto", [], "415", "unknown"),
      ("/test.Test/Expand", "POST", "application/proto", [], "415", "unknown"),
      ("/test.Test/Get", "POST", "application/proto", ["content-encoding: foo"], "501", "unimplemented"),
      (
        "/test.Test/Get", "POST", "application/proto", ["connect-timeout-ms: soon"], "400", "invalid_argument"
      ),
      (
        "/test.Test/Get", "POST", "application/proto", ["connect-timeout-ms: 12345678901"], "400",
        "invalid_argument"
      ),
      (
        "/test.Test/Get", "POST", "application/proto", ["connect-protocol-version: 2"], "400",
        "invalid_argument"
      ),
      (
        "/test.Test/Get", "POST", "application/proto", ["connect-timeout-ms: 9", "connect-timeout-ms: 9000"],
        "400",
        "invalid_argument"
      ),
      (
        "/test.Test/Get", "POST", "application/proto",
        ["content-encoding: gzip", "content-encoding: identity"], "400",
        "invalid_argument"
      ),
      ("/test.Test/Get", "POST", "application/proto", ["content-type: application/json"], "400", "internal"),
      ("/test.Test/Get", "GET", "", [], "405", "unknown"),
      (
        "/test.Test/Hang", "POST", "application/proto", ["connect-timeout-ms: 20"], "504", "deadline_exceeded"
      ),
    ] as [(String, String, String, [String], String, String)]
  )
  func invalidRequestsAreRejected(
    _ sample: (path: String, method: String, type: String, lines: [String], status: String, code: String)
  ) async throws {
    try await with { peer, _ async throws in
      let response = try #require(
        peer.send(sample.method, sample.path, sample.type, sample.lines, sample.method == "GET" ? [] : [1])
      )
      #expect(response.status == sample.status)
      #expect(response.text.contains("\"code\":\"\(sample.code)\"") == !sample.code.isEmpty)
      // The connection is in order.
      #expect(peer.post("Get", [7])?.body == [7])
    }
  }

  /// Whoever calls by hand sees why, and what to do instead.
  @Test(
    arguments: [
      (
        "POST", "/test.Test/Get", "application/connect+proto",
        "it takes application/json and application/proto", "accept-post",
        "application/proto"
      ),
      (
        "POST", "/test.Test/Expand", "application/proto", "; it takes application/connect+json and",
        "accept-post",
        "application/connect+proto"
      ),
      (
        "POST", "/test.Test/Get", "", "the content type is not that of a call", "content-type",
        "application/json"
      ),
      ("DELETE", "/test.Test/Get", "application/proto", "a gRPC call is a POST", "allow", "POST"),
      ("GET", "/test.Test/Get", "", "the method is called by POST", "allow", "POST"),
      ("GET", "/nothing", "", "a gRPC call is a POST", "allow", "POST"),
    ] as [(String, String, String, String, String, String)]
  )
  func aRefusalSaysWhy(
    _ sample: (method: String, path: String, type: String, message: String, field: String, value: String)
  ) async throws {
    try await with { peer, _ async throws in
      let response = try #require(
        peer.send(sample.method, sample.path, sample.type, [], sample.method == "GET" ? [] : [1])
      )
      #expect(response.fields["content-type"] == "application/json")
      #expect(response.fields[sample.field]?.contains(sample.value) == true)
      #expect(response.text.hasPrefix(#"{"code":"unknown","message":""#))
      #expect(response.text.contains(sample.message))
    }
  }

  /// What those who call by hand forget first.
  @Test func aStreamWithoutPrefixesSaysWhatIsMissing() async throws {
    try await with { peer, _ async throws in
      let response = try #require(
        peer.send("POST", "/test.Test/Expand", "application/connect+proto", [], Array(#"{"text":"x"}"#.utf8))
      )
      #expect(
        response.text.contains("flags are 123, not 0 or 1: before each message come a byte of flags and four")
      )
    }
  }

  /// Clients of gRPC-Web, and requests of any kind, are not answered as if they spoke Connect.
  @Test(
    arguments: [
      ("POST", "text/plain", "415", "the content type is not that of a call"),
      ("POST", "image/jpeg", "415", "the content type is not that of a call"),
      ("DELETE", "application/grpc-web", "405", "a gRPC call is a POST"),
      ("DELETE", "Application/gRPC-Web-Text", "405", "a gRPC call is a POST"),
    ]
  )
  func otherClientsAreRefusedInPlainText(
    _ sample: (method: String, type: String, status: String, message: String)
  ) async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.send(sample.method, "/test.Test/Get", sample.type, [], [1]))
      #expect(response.status == sample.status)
      #expect(response.fields["content-type"] == "text/plain; charset=utf-8")
      #expect(response.text.hasPrefix(sample.message))
      #expect(response.text.hasSuffix("\n"))
    }
  }

  @Test func aPageOfAnotherOriginSeesNothing() async throws {
    var options = WireProtocolTests.server
    options.web = WebOptions(origins: .only(["https://good.example"]))
    try await with(options) { peer, _ async throws in
      let refused = try #require(peer.post("Get", [1], ["origin: https://bad.example"]))
      #expect(refused.status == "403")
      #expect(refused.text.hasPrefix(#"{"code":"permission_denied""#))
      #expect(refused.fields["access-control-allow-origin"] == nil)
      let wrong = try #require(
        peer.send("POST", "/test.Test/Get", "text/plain", ["origin: https://good.example"], [1])
      )
      #expect(wrong.status == "415")
      #expect(wrong.fields["access-control-allow-origin"] == "https://good.example")
    }
  }

  /// Over HTTP/2, the reason is DATA that ends the stream; a HEAD has none.
  @Test func aRefusalOverHTTP2EndsWithItsReason() async throws {
    try await TestPair.with(server: WireProtocolTests.server) { pair async throws in
      let peer = try FramePeer(pair.address)
      for (id, method) in [(UInt32(1), "GET"), (3, "HEAD")] {
        peer.headers(
          id,
          [(":method", method), (":scheme", "http"), (":path", "/"), (":authority", "test")],
          ends: true
        )
        let head = try #require(peer.nextHeaders())
        #expect(head.fields[":status"] == "405")
        #expect(head.ends == (method == "HEAD"))
        guard !head.ends else { continue }
        let body = try #require(peer.next())
        #expect(body.type == FramePeer.Kind.data)
        #expect(body.endsStream)
        #expect(String(decoding: body.payload, as: UTF8.self).hasPrefix(#"{"code":"unknown","#))
      }
      #expect(await pair.server.snapshot().calls.failed == 2)
    }
  }

  @Test(arguments: ["gzip", "deflate", "zstd", "br"]) func bodiesMayBeCompressed(_ name: String) async throws
  {
    let compression = try #require(MessageCompression(rawValue: name))
    let message = [UInt8](repeating: 5, count: 20_000)
    let packed = Compressor.compress(MessageBuffer(message), compression).withBytes {
      $0.withUnsafeBytes(Array.init)
    }
    try await with { peer, _ async throws in
      let lines = ["content-encoding: \(name)"]
      #expect(peer.post("Get", packed, lines)?.body == message)
      // No content is not decompressed.
      #expect(peer.post("Get", [], lines)?.body == [])
      let answer = try #require(peer.post("Safe", packed, lines + ["accept-encoding: br;q=0, gzip"]))
      #expect(answer.fields["content-encoding"] == "gzip")
      let plain = try answer.body.withUnsafeBytes { try Compressor.inflate($0, .gzip, upTo: 20_000) }
      #expect(plain == message)
      #expect(peer.post("Safe", message, ["accept-encoding: gzip;q=0"])?.fields["content-encoding"] == nil)
    }
  }

  @Test(arguments: ["gzip", "zstd", "br"]) func decompressionStopsAtTheLimit(_ name: String) async throws {
    let compression = try #require(MessageCompression(rawValue: name))
    let bomb = Compressor.compress(MessageBuffer([UInt8](repeating: 0, count: 8_000_000)), compression)
      .withBytes { $0.withUnsafeBytes(Array.init) }
    try await with { peer, _ async throws in
      let response = try #require(peer.post("Get", bomb, ["content-encoding: \(name)"]))
      #expect(response.status == "429")
      #expect(response.text.contains("resource_exhausted"))
      #expect(peer.post("Get", Array(bomb.dropLast(3)), ["content-encoding: \(name)"])?.status != "200")
    }
  }

  /// It is the client's fault, and HTTP has a status for that.
  @Test(arguments: ["gzip", "deflate", "zstd", "br"]) func damagedCompressionIsABadRequest(_ name: String)
    async throws
  {
    try await with { peer, _ async throws in
      for size in [10, 100_000] {
        let body = [UInt8](repeating: 0xee, count: size)
        let response = try #require(peer.post("Get", body, ["content-encoding: \(name)"]))
        #expect(response.status == "400")
        #expect(response.text.contains("invalid_argument"))
      }
    }
  }

  @Test func aBodyAboveTheLimitIsRefused() async throws {
    var options = WireProtocolTests.server
    options.maxRequestSize = 1000
    try await with(options) { peer, _ async throws in
      #expect(peer.post("Get", [UInt8](repeating: 1, count: 1000))?.status == "200")
      let response = try #require(peer.post("Get", [UInt8](repeating: 1, count: 1001)))
      #expect(response.status == "429")
      #expect(response.text.contains("resource_exhausted"))
    }
  }

  // MARK: GET

  @Test(arguments: [
    "encoding=proto&message=abc", "message=%61b%63&encoding=proto&connect=v1",
    "connect=v1&base64=1&encoding=proto&message=YWJj", "x=1&base64=1&encoding=proto&message=YWJj&message=no",
    "base64=0&encoding=proto&message=abc",
  ])
  func aQueryCarriesTheMessage(_ query: String) async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.send("GET", "/test.Test/Safe?\(query)", "", [], []))
      #expect(response.status == "200")
      #expect(response.text == "abc")
      #expect(response.fields["content-type"] == "application/proto")
    }
  }

  @Test(arguments: [
    ("message=abc", "400"), ("encoding=proto", "400"), ("encoding=proto&message=%zz", "400"),
    ("encoding=proto&base64=1&message=!", "400"),
    ("encoding=proto&message=a&connect=v2", "400"), ("encoding=proto&message=a&compression=foo", "501"),
    ("encoding=proto&message=a&compression=gzip", "400"), ("", "400"),
  ])
  func invalidQueriesAreRefused(_ sample: (query: String, status: String)) async throws {
    try await with { peer, _ async throws in
      let response = peer.send("GET", "/test.Test/Safe?\(sample.query)", "", [], [])
      #expect(response?.status == sample.status)
    }
  }

  @Test func aQueryMayBeCompressed() async throws {
    let message = [UInt8](repeating: 5, count: 5000)
    let packed = Compressor.compress(MessageBuffer(message), .gzip).withBytes {
      $0.withUnsafeBytes { Data($0) }
    }
    let text = packed.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "%3D")
    try await with { peer, _ async throws in
      let query = "compression=gzip&base64=1&encoding=proto&message=\(text)"
      let response = try #require(
        peer.send("GET", "/test.Test/Safe?\(query)", "", ["accept-encoding: identity"], [])
      )
      #expect(response.body == message)
    }
  }

  // MARK: Streams

  @Test func envelopesEndWithTheStatus() async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.stream("Expand", WebMessages.frame([1, 2])))
      #expect(response.fields["content-type"] == "application/connect+proto")
      let envelopes = response.envelopes
      #expect(envelopes.map(\.flags) == [0, 0, 2])
      #expect(envelopes.map(\.bytes) == [[1], [2], Array("{}".utf8)])
    }
  }

  @Test func requestsMayBeStreamedToo() async throws {
    try await with { peer, _ async throws in
      let requests = WebMessages.frame([1]) + WebMessages.frame([2])
      #expect(peer.stream("Collect", requests)?.envelopes.first?.bytes == [1, 2])
      #expect(peer.stream("Update", requests)?.envelopes.map(\.bytes).dropLast() == [[1], [2]])
    }
  }

  @Test func aStreamsErrorIsInItsLastEnvelope() async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.stream("Ignore", WebMessages.frame([1])))
      #expect(response.status == "200")
      let last = try #require(response.envelopes.last)
      #expect(last.flags == 2)
      let text = #"{"error":{"code":"resource_exhausted","message":"enough"}}"#
      #expect(String(decoding: last.bytes, as: UTF8.self) == text)
    }
  }

  @Test(
    arguments: [
      ([], "unimplemented"), (WebMessages.frame([1]) + WebMessages.frame([2]), "unimplemented"),
      ([1, 0, 0, 0, 1, 9], "internal"), ([2, 0, 0, 0, 0], "internal"), ([0, 0, 0, 0, 9, 1], "internal"),
    ] as [([UInt8], String)]
  )
  func invalidEnvelopesFailTheCall(_ sample: (body: [UInt8], code: String)) async throws {
    try await with { peer, _ async throws in
      let last = try #require(peer.stream("Expand", sample.body)?.envelopes.last)
      #expect(String(decoding: last.bytes, as: UTF8.self).contains("\"code\":\"\(sample.code)\""))
    }
  }

  // MARK: HTTP/2

  @Test func overHTTP2ABodyIsTheMessageToo() async throws {
    try await TestPair.with(server: WireProtocolTests.server) { pair async throws in
      let peer = try FramePeer(pair.address)
      let fields = [
        (":method", "POST"), (":scheme", "http"), (":path", "/test.Test/Get"), (":authority", "test"),
        ("content-type", "application/proto"),
      ]
      peer.headers(1, fields)
      peer.data(1, [1])
      peer.data(1, [2, 3], ends: true)
      let head = try #require(peer.nextHeaders())
      #expect(
        head.fields == [
          ":status": "200", "content-type": "application/proto", "content-length": "3", "vary": "origin",
        ]
      )
      let data = try #require(peer.next(FramePeer.Kind.data))
      #expect(data.payload == [1, 2, 3])
      #expect(data.endsStream)
      // A GET has no body.
      peer.headers(
        3,
        [
          (":method", "GET"), (":scheme", "http"), (":path", "/test.Test/Safe?encoding=proto&message=a"),
          (":authority", "test"),
        ],
        ends: true
      )
      #expect(try #require(peer.nextHeaders()).fields[":status"] == "200")
      #expect(peer.next(FramePeer.Kind.data)?.payload == [97])
    }
  }

  // MARK: Tricks with paths

  @Test(arguments: [
    "/test.Test%2fGet", "/test.Test%2FGet", "//test.Test/Get", "/test.Test//Get", "/x/../test.Test/Get",
    "/./test.Test/Get", "/test.Test/Get/", "/test.Test/Get%00", "/test.Test/Get;a=b", "/TEST.Test/Get",
    "/test.Test/Get#x", "/test%2eTest/Get", "/", "*",
  ])
  func pathsAreNotNormalized(_ path: String) async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.send("POST", path, "application/proto", [], [1]))
      #expect(response.status == "404")
      #expect(response.text.contains("unimplemented"))
    }
  }

  @Test func aGiantQueryIsRefused() async throws {
    try await with { peer, _ async throws in
      let query = "encoding=proto&message=" + String(repeating: "a", count: 20_000)
      // A protocol that knows the path says it in its own words.
      #expect(peer.send("GET", "/test.Test/Safe?\(query)", "", [], [])?.status == "429")
      #expect(peer.send("GET", "/test.Test/None?\(query)", "", [], [])?.status == "431")
    }
  }

  @Test func aRequestWithTwoLengthsIsRefused() async throws {
    try await with { peer, _ async throws in
      peer.http.send(
        "POST /test.Test/Get HTTP/1.1\r\nhost: a\r\ncontent-type: application/proto\r\n"
          + "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
      )
      #expect(peer.http.response()?.status == "400")
      #expect(peer.http.raw.readToEnd())
    }
  }

  @Test func anIncompleteBodyTimesOut() async throws {
    var options = WireProtocolTests.server
    options.requestTimeout = .milliseconds(50)
    try await with(options) { peer, _ async throws in
      peer.http.send(
        ConnectPeer.head("POST", "/test.Test/Get", "application/proto", ["content-length: 5"]) + "ab"
      )
      #expect(peer.http.response()?.status == "504")
    }
  }
}

/// A client of HTTP/1.1 that speaks Connect by hand.
struct ConnectPeer {
  let http: HTTP1Peer

  init(_ http: HTTP1Peer) { self.http = http }

  static func head(_ method: String, _ path: String, _ type: String, _ lines: [String]) -> String {
    let first =
      ["\(method) \(path) HTTP/1.1", "host: test"] + (type.isEmpty ? [] : ["content-type: \(type)"])
    return (first + lines + ["", ""]).joined(separator: "\r\n")
  }

  func send(_ method: String, _ path: String, _ type: String, _ lines: [String], _ body: [UInt8]) -> HTTP1Peer
    .Response?
  {
    let length = method == "GET" ? [] : ["content-length: \(body.count)"]
    // At once: a server that rejects a request before its body has arrived closes the connection.
    http.raw.send(Array(Self.head(method, path, type, lines + length).utf8) + body)
    return http.response()
  }

  func post(_ method: String, _ body: [UInt8], _ lines: [String] = []) -> HTTP1Peer.Response? {
    send("POST", "/test.Test/\(method)", "application/proto", lines, body)
  }

  func stream(_ method: String, _ body: [UInt8], _ lines: [String] = []) -> HTTP1Peer.Response? {
    send("POST", "/test.Test/\(method)", "application/connect+proto", lines, body)
  }
}

extension HTTP1Peer.Response {
  var text: String { String(decoding: body, as: UTF8.self) }

  var envelopes: [(flags: UInt8, bytes: [UInt8])] {
    var envelopes: [(flags: UInt8, bytes: [UInt8])] = []
    var rest = body[...]
    while rest.count >= 5 {
      let flags = rest.removeFirst()
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      envelopes.append((flags, Array(rest.dropFirst(4).prefix(length))))
      rest = rest.dropFirst(4 + length)
    }
    return envelopes
  }
}
