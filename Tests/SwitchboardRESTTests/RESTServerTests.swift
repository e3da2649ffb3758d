import Foundation
import RESTService
import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST
import TestSupport
import Testing

/// REST over sockets: HTTP/1.1 and HTTP/2, with curl.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RESTServerTests {
  /// What curl prints: the headers and the body.
  private func curl(_ arguments: String...) throws -> String {
    let process = try ChildProcess("/usr/bin/curl", ["-s", "-i", "--max-time", "20"] + arguments)
    // Not by characters: a carriage return and a line feed are one.
    return String(decoding: process.allOutput().utf8.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }

  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func answersUnaryCalls(version: String) async throws {
    try await withRESTServer { address in
      let get = try curl(version, "http://\(address)/v1/simple/x?int32=5")
      #expect(get.contains(" 200"))
      #expect(get.contains("content-type: application/json\n"))
      #expect(get.hasSuffix("\n\n{\"text\":\"x\",\"int32\":5}"))
      let json = ["-H", "content-type: application/json"]
      let post = try curl(
        version,
        json[0],
        json[1],
        "-d",
        #"{"inner":{"flag":true}}"#,
        "http://\(address)/v1/all"
      )
      #expect(post.hasSuffix(#"{"inner":{"flag":true}}"#))
      let missing = try curl(version, "http://\(address)/v1/fail/5?message=gone")
      #expect(missing.contains(" 404"))
      #expect(missing.hasSuffix(#"{"code":5,"message":"gone"}"#))
      let other = try curl(version, "-X", "DELETE", "http://\(address)/v1/all")
      #expect(other.contains(" 405"))
      #expect(other.lowercased().contains("allow: post, put\n"))
      #expect(other.hasSuffix(#"{"code":12,"message":"the path does not have this method"}"#))
      let form = try curl(version, "-d", "text=x", "http://\(address)/v1/all")
      #expect(form.contains(" 415"))
      let bad = try curl(version, "http://\(address)/v1/simple/x?nothing=1")
      #expect(bad.contains(" 400"))
    }
  }

  private final class Errors: LogHandler {
    private let entries = Locked<[[String: String]]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      entries.withLock { if level == .error { $0.append(metadata) } }
    }

    var all: [[String: String]] { entries.withLock { $0 } }
  }

  private struct Undescribed: CallHandlerProvider {
    let serviceName = "test.Undescribed"
    let methodHandlers: [MethodHandler] = []
  }

  private final class Warnings: LogHandler {
    private let entries = Locked<[[String: String]]>([])
    var all: [[String: String]] { entries.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if message.contains("generate it with ReflectionData=true") { entries.withLock { $0.append(metadata) } }
    }
  }

  @Test func aServiceWithoutDescriptorsIsReported() throws {
    let warnings = Warnings()
    var options = ServerOptions()
    options.logger = Logger(warnings)
    try options.serveREST([RESTProvider(), Undescribed()])
    #expect(warnings.all == [["service": "test.Undescribed"]])
    var others = ServerOptions()
    let refusal = #expect(throws: HTTPRuleError.self) { try others.serveREST([Undescribed()]) }
    #expect("\(String(describing: refusal))".contains("ReflectionData=true when they are generated"))
  }

  private final class Doubts: LogHandler {
    private let entries = Locked<[[String: String]]>([])
    var rules: [String] { entries.withLock { $0.compactMap { $0["rule"] } } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if level == .warning { entries.withLock { $0.append(metadata) } }
    }
  }

  /// They are allowed, and hardly meant.
  @Test func rulesThatAreHardlyMeantAreLogged() throws {
    let log = Doubts()
    var options = ServerOptions()
    options.logger = Logger(log)
    options.pages = [HTTPPage("GET", "/hidden") { _ in HTTPPage.Response() }]
    var rest = RESTOptions()
    rest.rules = [
      HTTPRule("testing.rest.Rest.Get", "GETT", "/a"),
      HTTPRule("testing.rest.Rest.Get", "GET", "/b", body: "*"),
      HTTPRule("testing.rest.Rest.Get", "GET", "/hidden"),
      HTTPRule("testing.rest.Rest.Get", "DELETE", "/hidden"),
      HTTPRule("testing.rest.Rest.Get", "LIST", "/c"),
      HTTPRule("testing.rest.Rest.Get", "*", "/d", body: "*"),
    ]
    try options.serveREST([RESTProvider()], options: rest)
    #expect(
      log.rules == [
        "testing.rest.Rest.Get (GETT /a): GETT is no usual method of HTTP: did you mean GET?",
        "testing.rest.Rest.Get (GET /b): many clients and proxies send no body with GET: leave it out, and its fields "
          + "can be in the query",
      ]
    )
    _ = try Server(providers: [RESTProvider()], options: options)
    #expect(log.rules.dropFirst(2) == ["testing.rest.Rest.Get (GET /hidden)"])
  }

  @Test(arguments: [("", false), ("hello", false), ("{}", true), (#"{"openapi": "3.1.0"}"#, true)])
  func aDocumentThatIsNoJSONIsRefused(_ text: String, _ isJSON: Bool) throws {
    var options = ServerOptions()
    var rest = RESTOptions()
    rest.document = ("/openapi.json", Array(text.utf8))
    guard !isJSON else { return try options.serveREST([RESTProvider()], options: rest) }
    let refusal = #expect(throws: HTTPRuleError.self) {
      try options.serveREST([RESTProvider()], options: rest)
    }
    #expect(refusal?.description.hasPrefix("the document at /openapi.json is not JSON: ") == true)
  }

  /// What JSON cannot express of a response is the server's affair.
  @Test(arguments: ["simple", "watch"], [false, true])
  func clientsDoNotLearnWhyAResponseCannotBeWritten(_ path: String, isDescribed: Bool) async throws {
    let errors = Errors()
    let answer = try await withRESTServer {
      $0.logger = Logger(errors)
      $0.sendsErrorDescriptions = isDescribed
    } _: { address in
      try curl("http://\(address)/v1/\(path)/unwritable")
    }
    #expect(answer.contains(#""code":13"#))
    #expect(
      answer.contains("a message could not be encoded in the server, whose log says why") == !isDescribed
    )
    #expect(answer.contains("a message could not be encoded: ") == isDescribed)
    #expect(errors.all.count == 1)
    #expect(errors.all.first?["error"]?.hasPrefix("a message could not be encoded: ") == true)
    #expect(errors.all.first?["method"]?.hasPrefix("/testing.rest.Rest/") == true)
  }

  /// Larger than pages take.
  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func reportsErrorsToSendersOfLargeBodies(version: String) async throws {
    let file = try temporaryFile([UInt8](repeating: 65, count: 200_000), suffix: "text")
    let text = ["-H", "content-type: text/plain", "--data-binary", "@\(file)"]
    try await withRESTServer { address in
      for (method, path, status, code) in [
        ("POST", "/v1/nothing", "404", 5), ("DELETE", "/v1/all", "405", 12), ("POST", "/v1/all", "415", 3),
      ] {
        let url = "http://\(address)\(path)"
        let answer = try curl(version, "-X", method, text[0], text[1], text[2], text[3], url)
        #expect(answer.contains(" \(status)"), "\(path)")
        #expect(answer.lowercased().contains("content-type: application/json\n"), "\(path)")
        #expect(answer.contains("\n\n{\"code\":\(code),"), "\(path)")
      }
    }
  }

  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func answersStreams(version: String) async throws {
    try await withRESTServer { address in
      let lines = try curl(version, "http://\(address)/v1/watch/x")
      #expect(lines.contains("content-type: application/x-ndjson\n"))
      #expect(lines.hasSuffix("\n\n{\"text\":\"x\"}\n{\"text\":\"x\"}\n{\"text\":\"x\"}\n"))
      let events = try curl(version, "-H", "accept: text/event-stream", "http://\(address)/v1/watch/x")
      #expect(events.contains("content-type: text/event-stream\n"))
      #expect(
        events.hasSuffix("\n\ndata: {\"text\":\"x\"}\n\ndata: {\"text\":\"x\"}\n\ndata: {\"text\":\"x\"}\n\n")
      )
      let broken = try curl(version, "http://\(address)/v1/watch/fails")
      #expect(broken.hasSuffix("{\"text\":\"fails\"}\n{\"error\":{\"code\":15,\"message\":\"lost it\"}}\n"))
      let refused = try curl(version, "http://\(address)/v1/watch/refused")
      #expect(refused.contains(" 403"))
      let json = "content-type: application/json"
      let collect = try curl(
        version,
        "-H",
        json,
        "-d",
        "{\"name\":\"a\"}\n{\"name\":\"b\"}",
        "http://\(address)/v1/collect"
      )
      #expect(collect.hasSuffix(#"{"texts":["a","b"]}"#))
      let array = try curl(
        version,
        "-H",
        json,
        "-d",
        #"[{"name":"a"},{"name":"b"}]"#,
        "http://\(address)/v1/collect"
      )
      #expect(array.hasSuffix(#"{"texts":["a","b"]}"#))
    }
  }

  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func carriesBytes(version: String) async throws {
    try await withRESTServer { address in
      let download = try curl(version, "http://\(address)/v1/files/a/b")
      #expect(download.contains("content-type: text/plain\n"))
      #expect(download.hasSuffix("\n\nfile a/b"))
      let png = "content-type: image/png"
      let upload = try curl(
        version,
        "-H",
        png,
        "--data-binary",
        "bytes",
        "http://\(address)/v1/files/n?note=x"
      )
      #expect(upload.contains("content-type: image/png\n"))
      #expect(upload.hasSuffix("\n\nn:x:bytes"))
      let streamed = try curl(version, "-H", png, "--data-binary", "bytes", "http://\(address)/v1/streams/n")
      #expect(streamed.hasSuffix(#"{"name":"n","file":{"contentType":"image/png","data":"Ynl0ZXM="}}"#))
      let empty = try curl(
        version,
        "-X",
        "POST",
        "-H",
        png,
        "-H",
        "content-length: 0",
        "http://\(address)/v1/streams/n"
      )
      #expect(empty.hasSuffix(#"{"name":"n","file":{"contentType":"image/png"}}"#))
      let pieces = try curl(version, "http://\(address)/v1/streams/n")
      #expect(pieces.contains("content-type: text/csv\n"))
      #expect(pieces.hasSuffix("\n\nn 1\nn 2\nn 3\n"))
    }
  }

  @Test func carriesHeadersAndCompression() async throws {
    try await withRESTServer { address in
      let answer = try curl("-H", "x-echo-a: 1", "-H", "x-echo-trailer: 2", "http://\(address)/v1/simple/x")
      #expect(answer.contains("\nx-echo-a: 1\n"))
      #expect(answer.contains("\ntrailer-x-echo-trailer: 2\n"))
      let folder = FileManager.default.temporaryDirectory.appending(path: "rest-\(UUID())")
      try Data(#"{"text":"packed"}"#.utf8).write(to: folder)
      defer {
        try? FileManager.default.removeItem(at: folder)
        try? FileManager.default.removeItem(at: folder.appendingPathExtension("gz"))
      }
      #expect(try ChildProcess("/usr/bin/gzip", ["-k", folder.path]).exitCode() == 0)
      let packed = try curl(
        "-H",
        "content-type: application/json",
        "-H",
        "content-encoding: gzip",
        "--data-binary",
        "@\(folder.path).gz",
        "http://\(address)/v1/all"
      )
      #expect(packed.hasSuffix(#"{"text":"packed"}"#))
    }
  }

  @Test func servesTheDocument() async throws {
    var options = RESTOptions()
    options.document = ("/openapi.json", Array("{}".utf8))
    try await withRESTServer(options) { address in
      let answer = try curl("http://\(address)/openapi.json")
      #expect(answer.hasSuffix("\n\n{}"))
    }
  }

  @Test func aConflictIsAnErrorBeforeTheServerStarts() async throws {
    var options = RESTOptions()
    options.rules = [HTTPRule("testing.rest.Rest.Hidden", "GET", "/v1/simple/{text}")]
    var serverOptions = ServerOptions()
    let error = #expect(throws: HTTPRuleError.self) {
      try serverOptions.serveREST([RESTProvider()], options: options)
    }
    #expect(error?.description.contains("testing.rest.Rest.Get (GET /v1/simple/{text})") == true)
    #expect(error?.description.contains("testing.rest.Rest.Hidden (GET /v1/simple/{text})") == true)
  }

  @Test(arguments: [
    ("testing.rest.Rest.Get", "GET", "/a/{txt}", "testing.rest.Everything has no field txt"),
    (
      "testing.rest.Rest.Get", "GET", "/a/{inner}",
      "inner is a message, which a variable of a path cannot set"
    ),
    ("testing.rest.Rest.Get", "GET", "/a/{texts}", "texts is a list or a map, which a variable"),
    ("testing.rest.Rest.Get", "GET", "/a/{labels}", "labels is a list or a map, which a variable"),
    ("testing.rest.Rest.Get", "GET", "/a/{texts.x}", "texts is not a message that has a field x"),
    ("testing.rest.Rest.Get", "GET", "/a/{text.x}", "text is not a message that has a field x"),
    (
      "testing.rest.Rest.Get", "GET", "/a/{time.seconds}",
      "time is a google.protobuf.Timestamp, of which a variable of a path sets no part"
    ),
    ("testing.rest.Rest/Get", "GET", "/a/{text}", "methods are named like shop.Books.GetBook"),
    (
      "testing.rest.Rest.Gett", "GET", "/a/{text}",
      "names the method testing.rest.Rest.Gett, which no described"
    ),
    ("testing.rest.Rest.Get", "get", "/a/{text}", "\"get\" is not a method of HTTP, but GET is"),
    (
      "testing.rest.Rest.Get", "GET", "/a/{inner\(String(repeating: ".deeper", count: 100)).text}",
      "a field that is nested more than 100 deep"
    ),
  ])
  func anInvalidRuleIsReported(_ method: String, _ verb: String, _ path: String, _ reason: String) {
    var options = RESTOptions()
    options.rules = [HTTPRule(method, verb, path)]
    var serverOptions = ServerOptions()
    let error = #expect(throws: HTTPRuleError.self) {
      try serverOptions.serveREST([RESTProvider()], options: options)
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  /// A page takes precedence over a rule, which nobody could then call.
  @Test func aRuleWithThePathOfTheDocumentIsAnError() throws {
    var options = RESTOptions()
    options.document = ("/v1/openapi", Array("{}".utf8))
    options.rules = [HTTPRule("testing.rest.Rest.Hidden", "GET", "/v1/{name=**}")]
    var serverOptions = ServerOptions()
    try serverOptions.serveREST([RESTProvider()], options: options)
    options.rules = [HTTPRule("testing.rest.Rest.Hidden", "GET", "/v1/openapi")]
    serverOptions = ServerOptions()
    let error = #expect(throws: HTTPRuleError.self) {
      try serverOptions.serveREST([RESTProvider()], options: options)
    }
    #expect(
      error?.description == "testing.rest.Rest.Hidden (GET /v1/openapi): the document has the same path"
    )
  }

  @Test func oneCallServesAllServices() throws {
    var options = ServerOptions()
    try options.serveREST([RESTProvider()])
    let error = #expect(throws: HTTPRuleError.self) { try options.serveREST([RESTProvider()]) }
    #expect(error?.description.hasPrefix("REST is served already") == true)
  }
}
