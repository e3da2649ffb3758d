import Foundation
import HTTP2TestSupport
import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST
import TestSupport
import Testing

/// What clients send that mean no good: each is answered, within limits, and the server goes on.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HostileRequestTests {
  /// The status of an answer, and its body.
  private func request(_ arguments: [String]) throws -> (status: String, body: String) {
    let process = try ChildProcess(
      "/usr/bin/curl",
      ["-s", "--path-as-is", "--max-time", "60", "-w", "\n%{http_code}"] + arguments
    )
    let lines = process.allOutput().split(separator: "\n", omittingEmptySubsequences: false)
    return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
  }

  private static let json = ["-H", "content-type: application/json"]

  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func pathsAreNotNormalized(version: String) async throws {
    try await withRESTServer { address in
      for (path, status, body) in [
        // One segment is decoded, and what looks like a way up is text.
        ("/v1/simple/..%2f..%2fetc", "200", #"{"text":"../../etc"}"#),
        ("/v1/shelves/..%2f..%2fetc/books/x", "200", #"{"name":"shelves/..%2f..%2fetc/books/x"}"#),
        ("/v1/shelves/../books/..", "200", #"{"name":"shelves/../books/.."}"#),
        ("/v1/simple/%00", "200", #"{"text":"\u0000"}"#), ("/v1/simple/%252f", "200", #"{"text":"%2f"}"#),
        ("/v1/simple/a%", "200", #"{"text":"a%"}"#), ("/v1/simple/%ff", "400", nil),
        ("/v1//simple/x", "404", nil), ("//v1/simple/x", "404", nil), ("/v1/simple//", "404", nil),
        ("/v1/./simple/x", "404", nil), ("/v1/simple/x/..", "404", nil), ("/v1%2fsimple/x", "404", nil),
        ("/v1/simple/x;y=z", "200", #"{"text":"x;y=z"}"#), ("/v1/simple/x#y", "200", #"{"text":"x"}"#),
        ("/v1/simple/x?text=%00&%00=1", "400", nil),
      ] as [(String, String, String?)] {
        let answer = try request([version, "http://\(address)\(path)"])
        #expect(answer.status == status, "\(path): \(answer)")
        if let body { #expect(answer.body == body, "\(path)") }
      }
    }
  }

  /// Bodies that are not whole, of many requests on one connection: messages, and values of streams.
  @Test(arguments: ["/v1/all", "/v1/collect"])
  func theBodiesOfAConnectionAreBoundedTogether(_ path: String) async throws {
    let options: (inout ServerOptions) -> Void = { $0.connectionBufferSize = 2 << 20 }
    try await withRESTServer(configure: options) { address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      let peer = try FramePeer(port: port)
      // The server's windows are in force once they are acknowledged.
      peer.send(FramePeer.Kind.settings, 1, 0, [])
      let fields = [
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
        ("content-type", "application/json"),
      ]
      for number in 0..<10 {
        let stream = UInt32(2 * number + 1)
        peer.headers(stream, fields)
        peer.data(stream, Array("{\"text\":\"".utf8))
        for _ in 0..<19 { peer.data(stream, [UInt8](repeating: UInt8(ascii: "x"), count: 15_000)) }
      }
      // Half of the buffer has three beside the oldest.
      for _ in 0..<6 { #expect(peer.nextHeaders()?.fields[":status"] == "429") }
      peer.data(1, Array("\"}".utf8), ends: true)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
    }
  }

  @Test func boundsRequests() async throws {
    try await withRESTServer { address in
      let url = "http://\(address)"
      // Larger than the headers may be.
      let giant = try request(["\(url)/v1/query?text=" + String(repeating: "x", count: 100_000)])
      #expect(giant.status.hasPrefix("4") || giant.status == "000")
      // Many parameters, within the headers.
      let many = try request(["\(url)/v1/query?" + String(repeating: "numbers=1&", count: 1500)])
      #expect(many.status == "200")
      #expect(many.body.utf8.count == #"{"numbers":[]}"#.utf8.count + 2 * 1500 - 1)
      let deep = "inner." + String(repeating: "deeper.", count: 1000) + "flag=true"
      let tooDeep = try request(["\(url)/v1/query?" + deep])
      #expect(tooDeep.status == "400")
      let bomb = String(repeating: #"{"deeper":"#, count: 50_000)
      let bombed = try send(bomb, to: "\(url)/v1/shelves/1/inner")
      #expect(bombed == "400")
      let large = "{\"text\":\"" + String(repeating: "x", count: 5_000_000) + "\"}"
      for path in ["/v1/all", "/v1/collect"] {
        let status = try send(large, to: url + path)
        #expect(status == "429", "\(path)")
      }
      // The server is well.
      let after = try request(["\(url)/v1/simple/x"])
      #expect(after.body == #"{"text":"x"}"#)
    }
  }

  /// Bodies that are turned into messages on another thread.
  @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
  func largeBodiesAreCallsLikeOthers(version: String) async throws {
    try await withRESTServer { address in
      let large = "{\"text\":\"" + String(repeating: "x", count: 500_000) + "\"}"
      for (body, status) in [(large, "200"), (large.dropLast() + "", "400"), (large, "200")] {
        let file = try temporaryFile(Array(body.utf8), suffix: "json")
        let answer = try request(
          [version] + Self.json + ["--data-binary", "@\(file)", "http://\(address)/v1/all"]
        )
        #expect(answer.status == status)
        #expect((answer.body == large) == (status == "200"))
      }
    }
  }

  /// A value of two bytes must not become a message of fifteen kilobytes.
  @Test func valuesOfAStreamDoNotRepeatThePath() async throws {
    var options = RESTOptions()
    options.rules = [HTTPRule("testing.rest.Rest.Collect", "POST", "/v1/collect/{name=**}", body: "*")]
    try await withRESTServer(options) { address in
      let path = String(repeating: "a", count: 15_000)
      let values = #"{}{"name":"b","text":"c"}"# + String(repeating: "{}", count: 50_000)
      let file = try temporaryFile(Array(values.utf8), suffix: "json")
      let url = "http://\(address)/v1/collect/\(path)"
      let answer = try request(Self.json + ["--data-binary", "@\(file)", url])
      #expect(answer.status == "200")
      let texts = "\"\(path)\"" + String(repeating: ",\"\"", count: 50_001)
      #expect(answer.body == "{\"texts\":[\(texts)]}")
    }
  }

  /// Sends a body from a file, and returns the status.
  private func send(_ body: String, to url: String) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID())")
    try Data(body.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try request(Self.json + ["--data-binary", "@\(file.path)", url]).status
  }
}
