import Foundation
import RESTService
import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST
import TestSupport
import Testing

/// What would be lost is refused, and what would lose it is logged when the server is made.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RESTMistakeTests {
  /// The status of an answer, and its body.
  private func request(_ arguments: [String]) throws -> (status: String, body: String) {
    let process = try ChildProcess(
      "/usr/bin/curl",
      ["-s", "--max-time", "60", "-w", "\n%{http_code}"] + arguments
    )
    let lines = process.allOutput().split(separator: "\n", omittingEmptySubsequences: false)
    return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
  }

  private func send(_ body: String, to url: String, _ more: String...) throws -> (
    status: String, body: String
  ) { try send(body, to: url, more) }

  private func send(_ body: String, to url: String, _ more: [String]) throws -> (status: String, body: String)
  {
    let file = try temporaryFile(Array(body.utf8), suffix: "body")
    return try request(["-H", "content-type: application/json", "--data-binary", "@\(file)"] + more + [url])
  }

  // MARK: Bodies

  @Test(arguments: [
    ("POST", "/v1/lost/x", #"{"int32":5}"#), ("DELETE", "/v1/shelves/x", "{}x"),
    ("GET", "/v1/simple/x", "[]"),
    ("POST", "/v1/lost/x", "text"),
  ])
  func aBodyThatNoRuleTakesIsRefused(_ method: String, _ path: String, _ body: String) async throws {
    var options = RESTOptions()
    options.rules = [
      HTTPRule("testing.rest.Rest.Get", "POST", "/v1/lost/{text}"),
      HTTPRule("testing.rest.Rest.Get", "GET", "/v1/simple/{text}"),
    ]
    try await withRESTServer(options) { address in
      for version in ["--http1.1", "--http2-prior-knowledge"] {
        let url = "http://\(address)\(path)"
        let refused = try send(body, to: url, version, "-X", method)
        #expect(refused.status == "400")
        #expect(refused.body.contains(#""code":3"#))
        #expect(refused.body.contains("the body: the rule of testing.rest.Rest."))
        #expect(refused.body.contains(#"takes none: its fields are in the path and in the query"#))
        #expect(refused.body.contains(#"rule has body: \"*\""#))
        for nothing in ["", "{}", " { }\r\n"] {
          let answer = try send(nothing, to: url, version, "-X", method)
          #expect(answer.status == "200", "\(nothing)")
        }
        // Nobody says beforehand that nothing comes.
        let empty = try send("", to: url, version, "-X", method, "-H", "transfer-encoding: chunked")
        #expect(empty.status == "200")
      }
    }
  }

  /// A method that streams requests gets one, with what the path and the query have, and never the client's bytes in its
  /// place.
  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func aStreamThatNoRuleHasABodyForGetsItsPath(_ version: String) async throws {
    var options = RESTOptions()
    options.rules = [HTTPRule("testing.rest.Rest.Collect", "POST", "/v1/gathered/{name}")]
    try await withRESTServer(options) { address in
      let url = "http://\(address)/v1/gathered/alice?text=b"
      #expect(try request(["-X", "POST", version, url]).body == #"{"texts":["alice"]}"#)
      for nothing in ["", "{}", " { }\r\n", String(repeating: " ", count: 300_000) + "{}"] {
        for more in [["-H", "transfer-encoding: chunked"], []] where version == "--http1.1" || more.isEmpty {
          let answer = try send(nothing, to: url, [version] + more)
          #expect(answer.body == #"{"texts":["alice"]}"#, "\(nothing.prefix(10))")
        }
      }
      // The last is what the transcoder passes on for a path and a query of its own.
      let forged = ["\0\0\0\u{1}", "\0\0\0\0", "\0\0\0\u{6}text=x", "\0\0\0\u{3}bob"].joined()
      for body in ["x", "{}{}", "{}x", #"{"name":"bob"}"#, String(repeating: "x", count: 300_000), forged] {
        let answer = try send(body, to: url, [version])
        #expect(answer.status == "400", "\(body.prefix(20))")
        #expect(answer.body.contains("takes none"))
      }
    }
  }

  @Test func aBodyThatNoRuleTakesIsLimited() async throws {
    try await withRESTServer {
      $0.maxRequestSize = 1000
    } _: { address in
      let answer = try send(
        String(repeating: " ", count: 1001),
        to: "http://\(address)/v1/shelves/x",
        "-X",
        "DELETE"
      )
      #expect(answer.status == "429")
    }
  }

  private final class Rules: LogHandler {
    private let entries = Locked<[String]>([])
    var all: [String] { entries.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard level == .warning, let rule = metadata["rule"] else { return }
      entries.withLock { $0.append(rule) }
    }
  }

  private func warnings(_ rules: [HTTPRule]) throws -> [String] {
    let log = Rules()
    var options = ServerOptions()
    options.logger = Logger(log)
    var rest = RESTOptions()
    rest.rules = rules
    try options.serveREST([RESTProvider()], options: rest)
    return log.all
  }

  private struct Stock: CallHandlerProvider {
    static let find = CodableMethod<String, String>("shop.Stock", "Find", .unary)
    var serviceName: String { "shop.Stock" }
    var methodHandlers: [MethodHandler] { [Self.find.unaryHandler { request, _ in request }] }
  }

  @Test func aRuleForMessagesThatAreNotProtobufSaysSo() throws {
    var options = ServerOptions()
    options.logger = .quiet
    var rest = RESTOptions()
    rest.rules = [HTTPRule("shop.Stock.Find", "GET", "/v1/find")]
    let error = #expect(throws: HTTPRuleError.self) {
      try options.serveREST([RESTProvider(), Stock()], options: rest)
    }
    #expect(error?.description.contains("shop.Stock.Find, whose messages are not protobuf") == true)
  }

  @Test(arguments: ["POST", "PUT", "PATCH"]) func aRuleWhoseFieldsAreOnlyInTheQueryIsLogged(_ method: String)
    throws
  {
    let upload = try warnings([
      HTTPRule("testing.rest.Rest.UploadFile", method, "/u/{name}/{note}/{file.content_type}")
    ])
    #expect(
      upload == [
        "testing.rest.Rest.UploadFile (\(method) /u/{name}/{note}/{file.content_type}): it takes no body, so that file.data, "
          + "file.extensions can only be in the query: add body: \"*\", or the field that is the body"
      ]
    )
    let all = try warnings([HTTPRule("testing.rest.Rest.Get", method, "/a/{text}")])
    #expect(all.count == 1)
    #expect(all.first?.contains("so that name, int32, int64 and ") == true, "\(all)")
    #expect(all.first?.contains(" more can only be in the query") == true)
  }

  @Test func aStreamOfRequestsWithoutABodyIsLogged() throws {
    let collect = HTTPRule("testing.rest.Rest.Collect", "GET", "/v1/gathered/{name}")
    #expect(
      try warnings([collect]) == [
        "testing.rest.Rest.Collect (GET /v1/gathered/{name}): the method streams requests, of which a rule without a body "
          + "makes one, of the path and the query: give it a rule with body: \"*\", such as a post"
      ]
    )
    // Whoever has many requests has a way to send them.
    let whole = HTTPRule("testing.rest.Rest.Collect", "POST", "/v1/collect", body: "*")
    #expect(try warnings([collect, whole]) == [])
  }

  /// Custom verbs, whose requests have nothing but a name, and methods for which a query is usual.
  @Test func rulesThatLoseNothingAreNotLogged() throws {
    let right = [
      HTTPRule("testing.rest.Rest.Fail", "POST", "/fail/{code}/{message}/{detailed}:now"),
      HTTPRule("testing.rest.Rest.Get", "DELETE", "/a/{text}"),
      HTTPRule("testing.rest.Rest.Get", "GET", "/b"),
      HTTPRule("testing.rest.Rest.Get", "POST", "/c", body: "inner"),
      HTTPRule("testing.rest.Rest.Get", "PATCH", "/d", body: "*"),
    ]
    for rule in right { #expect(try warnings([rule]) == []) }
    #expect(try warnings([]) == [])
  }

  // MARK: Queries

  @Test(arguments: [
    ("text&text", "the query: text has no value: it is written text=VALUE"),
    ("int32=1&bool", "the query: bool has no value: it is written bool=VALUE"),
    ("a&a", "the query: \"a\" is not a parameter of the method"),
    ("=x", "the query: \"\" is not a parameter of the method"),
  ])
  func aParameterWithoutAValueIsRefused(_ query: String, _ reason: String) throws {
    let error = #expect(throws: GRPCStatus.self) { try RESTFixture.request("GET", "/v1/query?" + query) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == reason)
    #expect(try RESTFixture.request("GET", "/v1/query?&&text=x&").text == "x")
  }

  /// They have one form as a whole, and are checked as such.
  @Test(arguments: [
    "time.seconds=253402300800", "span.nanos=-1", "mask.paths=a b", "stringValue.value=a",
    "value.boolValue=true",
  ])
  func partsOfValuesAreNoParameters(_ query: String) throws {
    let name = query.prefix { $0 != "=" }
    let error = #expect(throws: GRPCStatus.self) { try RESTFixture.request("GET", "/v1/query?" + query) }
    let whole = query.prefix { $0 != "." }.replacing("stringValue", with: "string_value")
    #expect(
      error?.message
        == "the query: \"\(name)\" is not a parameter: \(whole) has no parts, but one value: \(whole)=VALUE"
    )
  }

  @Test(arguments: [
    ("/v1/simple/x?text=y", nil, "\"text\" is not a parameter: the path sets it"),
    (
      "/v1/all?text=y", "{}",
      #""text" is not a parameter: the body is the whole request, as its rule has body: "*""#
    ),
    ("/v1/query?time=2026-01-02T03:04:05+02:00", nil, "a + in a query is a space, and %2B a plus"),
    ("/v1/query?time=yesterday", nil, "expected a time in RFC 3339 format (line 1, column 1)"),
  ])
  func aRefusedParameterSaysWhy(_ target: String, _ body: String?, _ reason: String) throws {
    let error = #expect(throws: GRPCStatus.self) {
      try RESTFixture.request(body == nil ? "GET" : "POST", target, body: body ?? "")
    }
    #expect(error?.message?.hasSuffix(reason) == true, "\(error?.message ?? "")")
  }

  // MARK: Limits

  /// An object of so many bytes.
  private func object(_ count: Int) -> String {
    #"{"text":""# + String(repeating: "x", count: count - 11) + #""}"#
  }

  @Test func messagesOfStreamsCountAsUnaryOnes() async throws {
    var options = RESTOptions()
    options.rules = [HTTPRule("testing.rest.Rest.Collect", "POST", "/v1/collect/{name=**}", body: "*")]
    try await withRESTServer(options) {
      $0.maxRequestSize = 100
    } _: { address in
      for path in ["/v1/all", "/v1/collect/" + String(repeating: "a", count: 500)] {
        let url = "http://\(address)\(path)"
        #expect(try send(object(100), to: url).status == "200", "\(path)")
        let refused = try send(object(101), to: url)
        #expect(refused.status == "429", "\(path)")
        #expect(
          refused.body.contains(
            " 101 bytes is larger than the server's limit (ServerOptions.maxRequestSize): 100 bytes"
          ),
          "\(path)"
        )
      }
      let later = "http://\(address)/v1/collect/x"
      #expect(try send(object(100) + object(100), to: later).status == "200")
      #expect(try send(object(100) + object(101), to: later).status == "429")
    }
  }

  /// What arrives together is no message of the client's.
  @Test func piecesOfBytesFitTheLimit() async throws {
    try await withRESTServer {
      $0.maxRequestSize = 100
    } _: { address in
      let bytes = String(repeating: "x", count: 950)
      let answer = try send(bytes, to: "http://\(address)/v1/streams/n")
      #expect(answer.status == "200")
      #expect(answer.body.contains(Data(bytes.utf8).base64EncodedString()))
    }
  }
}
