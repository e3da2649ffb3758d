import CallTestSupport
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Plain HTTP answers on the port of the calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PageTests {
  private func with(_ body: (ConnectPeer, TestPair) async throws -> Void) async throws {
    var options = ServerOptions()
    options.pages = [
      HTTPPage("GET", "/metrics") { request in
        HTTPPage.Response(
          contentType: "text/plain",
          headers: ["cache-control": "no-store"],
          body: "\(request.method) \(request.path) \(request.query ?? "-")".utf8
        )
      },
      HTTPPage("POST", "/post", bodyLimit: 10) { request in
        HTTPPage.Response(status: 201, contentType: "text/plain", body: request.body.reversed())
      },
      HTTPPage("POST", "/type") { request in
        HTTPPage.Response(body: request.headers["content-type"].joined(separator: ", ").utf8)
      },
      HTTPPage("GET", "/large") { _ in
        HTTPPage.Response(contentType: "text/plain", body: [UInt8](repeating: 65, count: 300_000))
      },
      HTTPPage("GET", "/gone") { _ in HTTPPage.Response(status: 410) },
    ]
    try await TestPair.with(server: options) { pair async throws in
      try await body(ConnectPeer(try HTTP1Peer(pair.address)), pair)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func pagesAreAnswered() async throws {
    try await with { peer, _ async throws in
      let page = try #require(peer.send("GET", "/metrics?a=b", "", [], []))
      #expect(page.status == "200")
      #expect(page.fields["content-type"] == "text/plain")
      #expect(page.fields["cache-control"] == "no-store")
      #expect(page.text == "GET /metrics a=b")
      #expect(peer.send("POST", "/post", "text/plain", [], [1, 2])?.body == [2, 1])
      #expect(peer.send("GET", "/large", "", [], [])?.body.count == 300_000)
      #expect(peer.send("GET", "/gone", "", [], [])?.status == "410")
    }
  }

  @Test(arguments: ["text/plain", "application/json", "application/json; charset=utf-8", "application/x-a"])
  func aPageSeesTheContentType(_ type: String) async throws {
    try await with { peer, _ async throws in #expect(peer.send("POST", "/type", type, [], [1])?.text == type)
    }
  }

  /// A content type may come from whoever made the content.
  @Test(arguments: ["a\r\nset-cookie: b", "a\n\n<p>", "\0", " a"])
  func aContentTypeThatHTTPDoesNotAllowIsNotSent(_ type: String) async throws {
    var options = ServerOptions()
    options.pages = [HTTPPage("GET", "/upload") { _ in HTTPPage.Response(contentType: type, body: [1, 2]) }]
    try await TestPair.with(server: options) { pair async throws in
      let peer = ConnectPeer(try HTTP1Peer(pair.address))
      let answer = try #require(peer.send("GET", "/upload", "", [], []))
      #expect(answer.status == "500")
      #expect(answer.fields["content-type"] == nil && answer.fields["set-cookie"] == nil)
      #expect(answer.body.isEmpty)
    }
  }

  @Test func namesThatHTTPDoesNotAllowAreRefused() {
    var options = ServerOptions()
    options.pages = [HTTPPage("GET\r\n", "/a") { _ in HTTPPage.Response() }]
    #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    for change in [{ $0.exposedHeaders = ["a\r\nb"] }, { $0.allowedHeaders = ["a: b"] }]
      as [(inout WebOptions) -> Void]
    {
      options = ServerOptions()
      var web = WebOptions()
      change(&web)
      options.web = web
      #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    }
  }

  /// Whatever wrote the headers, no line is made of a value that would be two.
  @Test func headersAreWrittenOnOneLineEach() {
    let fields: [(StaticString, String, Bool)] = [
      ("a", "b\tc", true), ("a", "b\r\nc: d", false), ("a", "\0", false), (":path", "/a b", false),
      (":path", "/a", true),
      (":authority", "a b", false), (":authority", "a:1", true),
    ]
    for (name, value, isAllowed) in fields {
      let headers = HeaderWriter()
      headers.add("first", "1")
      headers.add(name, value.utf8)
      headers.add("last", "1")
      #expect((headers.refusalOfLines == nil) == isAllowed)
    }
  }

  @Test func twoPagesWithOnePathAreRejected() throws {
    var options = ServerOptions()
    options.pages = ["GET", "POST"].map { HTTPPage($0, "/same") { _ in HTTPPage.Response() } }
    _ = try Server(providers: [], options: options)
    options.pages.append(options.pages[0])
    let failure = #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    #expect(failure?.message == "two pages have the same path: GET /same")
  }

  /// No request has them.
  @Test(arguments: [
    ("get", "/a", #""get" is not a method of HTTP, but GET is"#),
    (
      "GET", "/a?b=1",
      #"no request has the path of a page, "/a?b=1": the query is no part of it, but in HTTPPage.Request.query"#
    ),
    ("GET", "/a#b", ##"no request has the path of a page, "/a#b": clients do not send what follows #"##),
    ("GET", "/a b", "percent encoding, such as %20"), ("GET", "/ä", "percent encoding, such as %20"),
  ]) func aPageThatNoRequestGetsIsRefused(_ method: String, _ path: String, _ reason: String) {
    var options = ServerOptions()
    options.pages = [HTTPPage(method, path) { _ in HTTPPage.Response() }]
    let failure = #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    #expect(
      failure?.code == .invalidArgument && failure?.message?.hasSuffix(reason) == true,
      "\(failure as Any)"
    )
  }

  /// They are allowed, and hardly meant.
  @Test(
    arguments: [
      ("GETT", "/a", false, "no usual method of HTTP: did you mean GET?"),
      ("PSOT", "/a", false, "no usual method of HTTP: did you mean POST?"),
      ("GET", "/static/*", false, "paths are compared as they are: a page has no wildcards and no variables"),
      ("GET", "/{name}", false, "paths are compared as they are: a page has no wildcards and no variables"),
      ("POST", "/test.Test/Get", true, "the page hides the method of this path from Connect and gRPC-Web"),
      ("POST", "/test.Test/Get", false, nil), ("PUT", "/test.Test/Get", true, nil),
      ("PROPFIND", "/a", true, nil),
      ("GET", "/.well-known/a~b:c;d=e", true, nil),
    ] as [(String, String, Bool, String?)]
  )
  func aPageThatIsHardlyMeantIsLogged(_ method: String, _ path: String, _ hasWeb: Bool, _ reason: String?)
    throws
  {
    let log = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(log)
    options.pages = [HTTPPage(method, path) { _ in HTTPPage.Response() }]
    if hasWeb { options.web = WebOptions() }
    _ = try Server(providers: [TestService()], options: options)
    let entry = reason.map { ["page": "\(method) \(path)", "reason": $0] }
    #expect(log.all(from: .warning).map(\.metadata) == (entry.map { [$0] } ?? []))
  }

  @Test func anOriginOfAnySiteIsLogged() throws {
    let log = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(log)
    for (origins, count) in [(["https://a.example"], 0), (["https://a.example", "null"], 1)] {
      options.web = WebOptions(origins: .only(Set(origins)))
      _ = try Server(providers: [TestService()], options: options)
      #expect(log.all(from: .warning).count == count)
    }
  }

  @Test func aPathWithoutASlashIsRejected() {
    var options = ServerOptions()
    options.pages = [HTTPPage("GET", "metrics") { _ in HTTPPage.Response() }]
    let failure = #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    #expect(failure?.message == "the path of a page begins with a slash: \"metrics\" does not")
  }

  @Test func aHeadResponseHasNoBody() async throws {
    try await with { peer, _ async throws in
      peer.http.send(ConnectPeer.head("HEAD", "/metrics", "", []))
      #expect(peer.http.line() == "HTTP/1.1 200 OK")
      while let line = peer.http.line(), !line.isEmpty {}
      #expect(peer.send("GET", "/metrics", "", [], [])?.text == "GET /metrics -")
    }
  }

  @Test(arguments: ["/metrics/", "//metrics", "/metric", "/x/../metrics", "/%6detrics", "/METRICS"])
  func otherPathsAreNotPages(_ path: String) async throws {
    try await with { peer, _ async throws in
      let response = try #require(peer.send("GET", path, "", [], []))
      #expect(response.status == "404")
      #expect(response.text == "there is no page at this path\n")
    }
  }

  /// A method is there, and takes no GET.
  @Test func theirAnswerIsNotThatOfAMethod() async throws {
    try await with { peer, _ async throws in
      #expect(peer.send("GET", "/test.Test/Get", "", [], [])?.status == "405")
      #expect(peer.send("DELETE", "/nothing", "", [], [])?.status == "405")
    }
  }

  @Test(arguments: [("DELETE", "/metrics", "GET, HEAD"), ("GET", "/post", "POST"), ("HEAD", "/post", "POST")])
  func otherMethodsOfAPageAreRejected(_ method: String, _ path: String, _ allowed: String) async throws {
    try await with { peer, _ async throws in
      peer.http.send(ConnectPeer.head(method, path, "text/plain", []))
      #expect(peer.http.line() == "HTTP/1.1 405 Method Not Allowed")
      var lines: [String] = []
      while let line = peer.http.line(), !line.isEmpty { lines.append(line) }
      #expect(lines.contains("allow: \(allowed)"))
    }
  }

  @Test func aBodyAboveTheLimitIsRefused() async throws {
    try await with { peer, _ async throws in
      #expect(peer.send("POST", "/post", "text/plain", [], [UInt8](repeating: 1, count: 11))?.status == "413")
    }
  }

  @Test func pagesAreServedOverHTTP2() async throws {
    try await with { _, pair async throws in
      let peer = try FramePeer(pair.address)
      peer.headers(
        1,
        [(":method", "GET"), (":scheme", "http"), (":path", "/metrics"), (":authority", "test")],
        ends: true
      )
      #expect(try #require(peer.nextHeaders()).fields[":status"] == "200")
      let data = try #require(peer.next(FramePeer.Kind.data))
      #expect(String(decoding: data.payload, as: UTF8.self) == "GET /metrics -")
      #expect(data.endsStream)
    }
  }
}
