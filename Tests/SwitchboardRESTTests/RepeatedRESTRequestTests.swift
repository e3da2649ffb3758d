import HTTP2TestSupport
import Switchboard
import SwitchboardREST
import TestSupport
import Testing

/// A connection remembers the last call that REST has found for a head, and the heads that repeat.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RepeatedRESTRequestTests {
  private typealias Request = RepeatedRequests.Request

  private static func request(
    _ method: String,
    _ path: String,
    _ body: String? = nil,
    adding more: [(String, String)] = [("content-type", "application/json")]
  ) -> Request {
    let head = [
      (":method", method), (":scheme", "http"), (":path", path), (":authority", "test"),
      ("user-agent", "test"),
    ]
    return Request(head + more, body.map { Array($0.utf8) })
  }

  private static let requests = [
    request("GET", "/v1/simple/x", adding: []), request("GET", "/v1/simple/y", adding: []),
    request("HEAD", "/v1/simple/x", adding: []), request("POST", "/v1/simple/x", adding: []),
    request("GET", "/v1/simple/x?bool=true", adding: []),
    request("GET", "/v1/simple/x?none=true", adding: []),
    // It has no body, or one without anything, or one that is lost.
    request("GET", "/v1/simple/x", "", adding: []), request("GET", "/v1/simple/x", "{}", adding: []),
    request("GET", "/v1/simple/x", #"{"text":"z"}"#, adding: []),
    request("GET", "/v1/simple/\(String(repeating: "x", count: 300))", adding: []),
    request("GET", "/v1/simple/x", adding: [("x-echo-a", "b")]),
    request("GET", "/v1/simple/x", adding: [("accept-encoding", "gzip")]),
    request("GET", "/v1/simple/x", adding: [("origin", "http://a")]),
    request("POST", "/v1/all", #"{"text":"a"}"#), request("POST", "/v1/all", #"{"text":"b"}"#),
    request("POST", "/v1/all", ""), request("POST", "/v1/all"), request("POST", "/v1/all", "{"),
    request("POST", "/v1/all", "{}", adding: []),
    request("POST", "/v1/all", adding: []),
    request("POST", "/v1/all?bool=true", #"{"text":"a"}"#), request("PUT", "/v1/all", #"{"text":"a"}"#),
    request("DELETE", "/v1/all"),
    request("POST", "/v1/shelves/s/all", #"{"text":"a","name":"n"}"#),
    request("POST", "/v1/all", #"{"text":"a"}"#, adding: [("content-type", "text/plain")]),
    request(
      "POST",
      "/v1/all",
      "{}",
      adding: [("content-type", "application/json"), ("content-length", "2")]
    ),
    request(
      "POST",
      "/v1/all",
      "{}",
      adding: [("content-type", "application/json"), ("content-length", "3")]
    ),
    request(
      "POST",
      "/v1/all",
      "{}",
      adding: [("content-type", "application/json"), ("content-encoding", "gzip")]
    ),
    request("POST", "/testing.rest.Rest/Create", #"{"text":"a"}"#),
    request("GET", "/v1/watch/x", adding: []), request("POST", "/v1/collect", #"{"text":"a"}{"text":"b"}"#),
    request("GET", "/v1/nothing", adding: []),
  ]

  @Test func repeatedRequestsGetTheSameAnswers() async throws {
    try await withRESTServer { address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      #expect(try RepeatedRequests(Self.requests).mistakes { try FramePeer(port: port) } == [])
    }
  }
}
