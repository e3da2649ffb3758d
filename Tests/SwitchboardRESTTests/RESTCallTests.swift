import CertificateSupport
import Foundation
import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST
import SwitchboardServices
import TestSupport
import Testing

/// What calls by REST share with all others: TLS, deadlines, interceptors; and what HTTP adds to them: HEAD, and the origins
/// of pages.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RESTCallTests {
  /// What curl prints: the headers, in lower case, and the body.
  private func curl(_ arguments: String...) throws -> (head: String, body: String) {
    let process = try ChildProcess("/usr/bin/curl", ["-s", "-i", "--max-time", "60"] + arguments)
    let text = String(decoding: process.allOutput().utf8.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts[0].lowercased() + "\n", parts.count > 1 ? String(parts[1]) : "")
  }

  private static let versions = ["--http1.1", "--http2-prior-knowledge"]

  @Test(arguments: ["--http1.1", "--http2"]) func worksOverTLS(version: String) async throws {
    guard case .bytes(let authority) = TestCertificates.authority else { return }
    let roots = try temporaryFile(authority, suffix: "pem")
    func change(_ options: inout ServerOptions) {
      options.tls = ServerTLS(credentials: TestCertificates.server)
    }
    try await withRESTServer(configure: change) { address in
      let get = try curl(version, "--cacert", roots, "https://\(address)/v1/simple/x?int32=5")
      #expect(get.head.hasPrefix(version == "--http2" ? "http/2 200" : "http/1.1 200"))
      #expect(get.body == #"{"text":"x","int32":5}"#)
      let json = "content-type: application/json"
      let body = #"{"name":"a"}{"name":"b"}"#
      let post = try curl(version, "--cacert", roots, "-H", json, "-d", body, "https://\(address)/v1/collect")
      #expect(post.body == #"{"texts":["a","b"]}"#)
      let stream = try curl(version, "--cacert", roots, "https://\(address)/v1/watch/x")
      #expect(stream.body == String(repeating: "{\"text\":\"x\"}\n", count: 3))
    }
  }

  @Test(arguments: versions) func hasDeadlines(version: String) async throws {
    try await withRESTServer { address in
      let late = try curl(version, "-H", "grpc-timeout: 50m", "http://\(address)/v1/simple/hangs")
      #expect(late.head.contains(" 504"))
      #expect(late.body.hasPrefix(#"{"code":4,"#))
      let wrong = try curl(version, "-H", "grpc-timeout: soon", "http://\(address)/v1/simple/x")
      #expect(wrong.head.contains(" 400"))
      let inTime = try curl(version, "-H", "grpc-timeout: 99999999H", "http://\(address)/v1/simple/x")
      #expect(inTime.body == #"{"text":"x"}"#)
    }
  }

  private struct Guards: ServerInterceptorFactory {
    func makeServerInterceptors<Request: Sendable, Response: Sendable>(
      for method: MethodDescriptor
    ) -> [ServerInterceptor<Request, Response>] { [Guard()] }
  }

  private final class Guard<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response> {
    override func receive(
      _ part: GRPCServerRequestPart<Request>,
      context: ServerInterceptorContext<Request, Response>
    ) {
      guard case .metadata(let headers) = part, !headers.contains(name: "authorization") else {
        return context.receive(part)
      }
      let status = GRPCStatus(code: .unauthenticated, message: "no token for \(context.path)")
      context.send(.end(status, ["hint": "ask"]), promise: nil)
    }
  }

  @Test(arguments: versions) func passesInterceptors(version: String) async throws {
    func change(_ options: inout ServerOptions) { options.interceptorFactories = [Guards()] }
    try await withRESTServer(configure: change) { address in
      let refused = try curl(version, "http://\(address)/v1/simple/x")
      #expect(refused.head.contains(" 401"))
      #expect(refused.head.contains("trailer-hint: ask\n"))
      #expect(refused.body == #"{"code":16,"message":"no token for /testing.rest.Rest/Get"}"#)
      let stream = try curl(version, "http://\(address)/v1/watch/x")
      #expect(stream.head.contains(" 401"))
      let allowed = try curl(version, "-H", "authorization: x", "http://\(address)/v1/simple/x")
      #expect(allowed.body == #"{"text":"x"}"#)
      // Who may not call does not learn what is wrong with the request.
      let url = "http://\(address)/v1/simple/x?nothing=1"
      #expect(try curl(version, url).head.contains(" 401"))
      let unreadable = try curl(version, "-H", "authorization: x", url)
      #expect(unreadable.head.contains(" 400"))
      let reason = #"the query: \"nothing\" is not a parameter of the method"#
      #expect(unreadable.body == #"{"code":3,"message":"\#(reason)"}"#)
    }
  }

  @Test(arguments: versions) func rejectsOtherOrigins(version: String) async throws {
    func change(_ options: inout ServerOptions) {
      options.web = WebOptions(origins: .only(["https://app.example"]))
    }
    try await withRESTServer(configure: change) { address in
      let url = "http://\(address)/v1/simple/x"
      let own = try curl(version, "-H", "origin: https://app.example", url)
      #expect(own.head.contains("access-control-allow-origin: https://app.example\n"))
      #expect(own.head.contains("vary: origin\n"))
      #expect(own.body == #"{"text":"x"}"#)
      let other = try curl(version, "-H", "origin: https://evil.example", url)
      #expect(other.head.contains(" 403"))
      #expect(!other.head.contains("access-control-allow-origin"))
      #expect(other.body == #"{"code":"permission_denied","message":"pages of this origin may not call"}"#)
      let asks = ["-X", "OPTIONS", "-H", "access-control-request-method: PATCH"]
      let may = try curl(
        version,
        asks[0],
        asks[1],
        asks[2],
        asks[3],
        "-H",
        "origin: https://app.example",
        url
      )
      #expect(may.head.contains(" 204"))
      #expect(may.head.contains("access-control-allow-methods: patch\n"))
      let not = try curl(
        version,
        asks[0],
        asks[1],
        asks[2],
        asks[3],
        "-H",
        "origin: https://evil.example",
        url
      )
      #expect(not.head.contains(" 403"))
      // Errors can be read by the page, too.
      let missing = try curl(version, "-H", "origin: https://app.example", "http://\(address)/nothing")
      #expect(missing.head.contains(" 404"))
      #expect(missing.head.contains("access-control-allow-origin: https://app.example\n"))
    }
  }

  @Test(arguments: [
    ("text/event-stream", true), ("TEXT/Event-Stream; q=0.5", true), ("text/event-stream, */*", true),
    ("text/event-stream;q=0.9, application/x-ndjson;q=0.8", true),
    ("application/x-ndjson, text/event-stream;q=0.5", false), ("text/event-stream;q=0, */*", false),
    ("text/event-stream;q=0.000", false), ("application/json", false), ("*/*", false),
  ])
  func streamsAsTheClientPrefers(_ accepted: String, _ events: Bool) async throws {
    try await withRESTServer { address in
      let answer = try curl("-H", "accept: \(accepted)", "http://\(address)/v1/watch/x")
      #expect(
        answer.head.contains("content-type: \(events ? "text/event-stream" : "application/x-ndjson")\n")
      )
      #expect(answer.body.hasPrefix(events ? "data: {" : "{"))
    }
  }

  /// A cache between must not give to one client what another asked for.
  @Test(arguments: versions) func namesTheHeadersThatResponsesDependOn(version: String) async throws {
    try await withRESTServer { address in
      let get = try curl(version, "http://\(address)/v1/simple/x")
      #expect(get.head.contains("vary: accept-encoding\n"))
      let stream = try curl(version, "http://\(address)/v1/watch/x")
      #expect(stream.head.contains("vary: accept\n"))
      let post = try curl(
        version,
        "-H",
        "content-type: application/json",
        "-d",
        "{}",
        "http://\(address)/v1/all"
      )
      #expect(!post.head.contains("vary:"))
    }
  }

  /// The services' files declare neither type.
  @Test func errorsShowTheDetailsOfKnownTypes() async throws {
    var options = RESTOptions()
    let usual = #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TEST"}"#
    try await withRESTServer(options) { address in
      let answer = try curl("http://\(address)/v1/fail/5?message=gone&detailed=true")
      #expect(answer.body == #"{"code":5,"message":"gone","details":["# + usual + "]}")
    }
    options.json.typeRegistry.insert(Google_Rpc_Status.self)
    try await withRESTServer(options) { address in
      let answer = try curl("http://\(address)/v1/fail/5?message=status&detailed=true")
      let own = #"{"@type":"type.googleapis.com/google.rpc.Status","code":7}"#
      #expect(answer.body == #"{"code":5,"message":"status","details":["# + usual + "," + own + "]}")
    }
  }

  @Test func anErrorInAStreamOfRequestsNamesTheMessage() async throws {
    try await withRESTServer { address in
      let json = "content-type: application/json"
      let body = #"{"name":"a"}{"name":"b"}{"name":1}"#
      let answer = try curl("-H", json, "-d", body, "http://\(address)/v1/collect")
      #expect(answer.body.contains("message 3 of the body: Everything.name: expected a string"))
    }
  }

  @Test(arguments: versions) func answersHeadAsGet(version: String) async throws {
    var options = RESTOptions()
    options.rules = [
      HTTPRule("testing.rest.Rest.Hidden", "HEAD", "/v1/own/{text}"),
      HTTPRule("testing.rest.Rest.Hidden", "GET", "/v1/own/{text}"),
    ]
    try await withRESTServer(options) { address in
      let url = "http://\(address)/v1/simple/x"
      let head = try curl(version, "-I", "-H", "x-echo-a: 1", url)
      #expect(head.head.contains(" 200"))
      #expect(head.head.contains("content-length: 12\n"))
      #expect(head.head.contains("content-type: application/json\n"))
      #expect(head.head.contains("x-echo-a: 1\n"))
      #expect(head.body == "")
      if version == "--http1.1" {
        // Nothing came after the first answer's headers: the connection is good for a second.
        let second = try curl(version, "-I", url, url)
        #expect(second.body.contains("content-length: 12\n"))
      }
      let failed = try curl(version, "-I", "http://\(address)/v1/fail/5")
      #expect(failed.head.contains(" 404"))
      #expect(failed.body == "")
      let download = try curl(version, "-I", "http://\(address)/v1/files/a/b")
      #expect(download.head.contains("content-length: 8\n"))
      #expect(download.head.contains("content-type: text/plain\n"))
      let own = try curl(version, "-I", "http://\(address)/v1/own/x")
      #expect(own.head.contains(" 200"))
      // Only GET has a HEAD, and streams have no headers apart from their bodies.
      for path in ["/v1/all", "/v1/watch/x"] {
        let other = try curl(version, "-I", "http://\(address)\(path)")
        #expect(other.head.contains(" 405"), "\(path)")
      }
      let allowed = try curl(version, "-X", "PUT", url)
      #expect(allowed.head.contains("allow: get, head\n"))
    }
  }
}
