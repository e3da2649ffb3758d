import Foundation
import HTTP2TestSupport
import Switchboard
import SwitchboardREST
import SwitchboardTelemetry
import SwitchboardTransport
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

  /// The name of the server counts in each request, and what it has besides.
  @Test func repeatedRequestsHaveTheirOwnHosts() async throws {
    let kinds: [(method: String, path: String, body: String?)] = [
      ("GET", "/v1/simple/x", nil), ("HEAD", "/v1/simple/x", nil), ("POST", "/v1/all", #"{"text":"a"}"#),
      ("POST", "/v1/all", nil),
    ]
    let requests = kinds.flatMap { kind in
      ["localhost", "elsewhere", nil].flatMap { name in
        [nil, "localhost", "elsewhere"].map { host in
          let head: [(String, String?)] = [
            (":method", kind.method), (":scheme", "http"), (":path", kind.path), (":authority", name),
            ("host", host), ("content-type", "application/json"),
          ]
          return Request(
            head.compactMap { field in field.1.map { (field.0, $0) } },
            kind.body.map { Array($0.utf8) }
          )
        }
      }
    }
    try await withRESTServer {
      $0.hosts = HostNames([])
    } _: { address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      #expect(try RepeatedRequests(requests).mistakes { try FramePeer(port: port) } == [])
    }
  }

  /// The session takes a `traceparent` out of a head, and requests that differ in nothing else repeat.
  @Test func repeatedRequestsHaveTheirOwnTraces() async throws {
    func trace(_ digit: Character) -> (String, String) {
      let half = String(repeating: digit, count: 16)
      return ("traceparent", "00-\(half)\(half)-\(half)-01")
    }
    let json = [("content-type", "application/json")]
    let traces = [
      [], [trace("a")], [trace("b")], [trace("a"), trace("b")], [trace("0")],
      [trace("a"), ("x-echo-a", "b")],
    ]
    let requests = traces.flatMap { trace in
      [
        Self.request("GET", "/v1/simple/x", adding: [("x-echo-b", "c")] + trace),
        Self.request("POST", "/v1/all", #"{"text":"a"}"#, adding: json + trace),
        Self.request("POST", "/v1/all", adding: json + trace),
      ]
    }
    var options = TelemetryOptions(serviceName: "test")
    options.givesContext = true
    let telemetry = try Telemetry(options)
    try await withRESTServer {
      $0.observer = telemetry.observer()
    } _: { address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      #expect(try RepeatedRequests(requests).mistakes { try FramePeer(port: port) } == [])
    }
    await telemetry.shutDown()
  }

  /// The same requests over HTTP/1.1, on a connection of their own and after one another.
  @Test func repeatedRequestsOverHTTP1GetTheSameAnswers() async throws {
    let requests = Self.requests.filter { request in
      !request.head.contains { $0.0 == "content-length" || $0.1.contains("watch") }
    }
    try await withRESTServer { address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      let expected = try requests.map { try Self.answers(to: [$0], port) }
      #expect(expected.allSatisfy { $0.count == 1 })
      for first in requests.indices {
        for second in requests.indices {
          let order = [first, first, second, second, first, second]
          let found = try Self.answers(to: order.map { requests[$0] }, port)
          #expect(found == order.flatMap { expected[$0] }, "\(first) \(second)")
        }
      }
    }
  }

  /// What a connection answers to requests that it gets at once, the last of which closes it; without digits.
  private static func answers(to requests: [Request], _ port: Int) throws -> [String] {
    let peer = try RawPeer(port: port)
    var text = ""
    for (number, request) in requests.enumerated() {
      let fields = Dictionary(request.head) { $1 }
      text += "\(fields[":method"] ?? "") \(fields[":path"] ?? "") HTTP/1.1\r\nhost: test\r\n"
      for (name, value) in request.head where !name.hasPrefix(":") { text += "\(name): \(value)\r\n" }
      if let body = request.body { text += "content-length: \(body.count)\r\n" }
      if number == requests.count - 1 { text += "x-last: 1\r\nconnection: close\r\n" }
      text += "\r\n" + String(decoding: request.body ?? [], as: UTF8.self)
    }
    peer.send(Array(text.utf8))
    var all: [UInt8] = []
    while case let more = peer.read(1), !more.isEmpty { all += more }
    return String(decoding: all, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").map { answer in
      answer.split(separator: "\r\n").filter { !$0.hasPrefix("connection:") && !$0.hasPrefix("date:") }
        .joined(separator: "\n").filter { !$0.isNumber || $0 == "4" || $0 == "5" }
    }.filter { !$0.isEmpty }
  }
}
