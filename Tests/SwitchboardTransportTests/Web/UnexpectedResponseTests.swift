import CallTestSupport
import Foundation
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Responses that servers send in the protocol's own conformance tests, and what our clients make of them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct UnexpectedResponseTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var wireProtocol = CallProtocol.connect
    var streams = false
    var status = 200
    var type = "application/json"
    var headers: HPACKHeaders = [:]
    var body: [UInt8] = []
    var code: GRPCStatus.Code
    var message: String?
    var details: [StatusDetail] = []

    var testDescription: String { name }
  }

  private static func frame(_ flags: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [flags] + (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) } + bytes
  }

  private static func frame(_ flags: UInt8, _ text: String) -> [UInt8] { frame(flags, Array(text.utf8)) }

  private static func gzip(_ text: String) -> [UInt8] {
    let packed = Compressor.compress(MessageBuffer(text.utf8), .gzip)
    return packed.withBytes { $0.withUnsafeBytes(Array.init) }
  }

  private static let detail = StatusDetail(type: "a.B", value: [8, 7])
  private static let whole = """
    {"code": "out_of_range", "message": "oops", "foobar": [{}], "details": [{"type": "a.B", "value": "CAc", "frob": 1,
     "debug": "garbage"}], "padding": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
    """

  private static func error(
    _ name: String,
    _ status: Int,
    _ json: String,
    _ code: GRPCStatus.Code,
    _ message: String?
  )
    -> Sample
  {
    Sample(name: "error " + name, status: status, body: Array(json.utf8), code: code, message: message)
  }

  private static func end(_ name: String, _ json: String, _ code: GRPCStatus.Code, _ message: String?)
    -> Sample
  {
    let type = "application/connect+proto"
    return Sample(
      name: "end " + name,
      streams: true,
      type: type,
      body: frame(2, json),
      code: code,
      message: message
    )
  }

  private static func web(
    _ name: String,
    type: String = "application/grpc-web",
    _ headers: HPACKHeaders = [:],
    _ body: [UInt8],
    _ code: GRPCStatus.Code,
    _ message: String? = nil
  ) -> Sample {
    Sample(
      name: "web " + name,
      wireProtocol: .grpcWeb,
      type: type,
      headers: headers,
      body: body,
      code: code,
      message: message
    )
  }

  static let samples: [Sample] =
    [
      error("null", 401, "null", .unauthenticated, nil),
      error("null code", 401, #"{"code": null, "message": "oops"}"#, .unauthenticated, "oops"),
      error("missing code", 401, #"{"message": "oops"}"#, .unauthenticated, "oops"),
      error("unknown code", 429, #"{"code": "foobar", "message": "oops"}"#, .unavailable, "oops"),
      error("missing message", 401, #"{"code": "unauthenticated"}"#, .unauthenticated, nil),
      error("no JSON", 503, "{", .unavailable, nil),
      end("null error", #"{"error": null}"#, .ok, nil),
      end("null code", #"{"error": {"code": null, "message": "oops"}}"#, .unknown, "oops"),
      end("missing code", #"{"error": {"message": "oops"}}"#, .unknown, "oops"),
      end("unknown code", #"{"error": {"code": "foobar", "message": "oops"}}"#, .unknown, "oops"),
      end("missing message", #"{"error": {"code": "unauthenticated"}}"#, .unauthenticated, nil),
      end("no JSON", "{", .internalError, nil),
      error("longer than any status", 503, String(repeating: " ", count: 200_000), .unavailable, nil),
      end("too long", String(repeating: " ", count: 200_000) + "{}", .resourceExhausted, nil),
      end(
        "with too many trailers",
        "{\"metadata\": {\"a\": [\(Array(repeating: "\"b\"", count: 1000).joined(separator: ","))]}}",
        .resourceExhausted,
        nil
      ),
      web(
        "too many trailers",
        [:],
        frame(0x80, String(repeating: "a: b\r\n", count: 1000) + "grpc-status: 0\r\n"),
        .resourceExhausted
      ),
    ]
    + [
      Sample(
        name: "error whole",
        status: 422,
        body: Array(whole.utf8),
        code: .outOfRange,
        message: "oops",
        details: [detail]
      ),
      Sample(
        name: "error compressed",
        status: 422,
        headers: ["content-encoding": "gzip"],
        body: gzip(whole),
        code: .outOfRange,
        message: "oops",
        details: [detail]
      ),
      Sample(
        name: "end whole",
        streams: true,
        type: "application/connect+proto",
        body: frame(2, "{\"error\": \(whole)}"),
        code: .outOfRange,
        message: "oops",
        details: [detail]
      ),
      Sample(
        name: "end compressed",
        streams: true,
        type: "application/connect+proto",
        headers: ["connect-content-encoding": "gzip"],
        body: frame(3, gzip("{\"error\": \(whole)}")),
        code: .outOfRange,
        message: "oops",
        details: [detail]
      ),
      Sample(
        name: "no end",
        streams: true,
        type: "application/connect+proto",
        body: frame(0, [1]),
        code: .internalError
      ),
      Sample(
        name: "after the end",
        streams: true,
        type: "application/connect+proto",
        body: frame(2, "{}") + [0],
        code: .internalError
      ),
      Sample(name: "another error type", status: 403, type: "application/proto", code: .permissionDenied),
      Sample(name: "another type", type: "image/jpeg", code: .unknown),
      Sample(name: "another format", type: "application/json", body: [1], code: .internalError),
      Sample(
        name: "another stream format",
        streams: true,
        type: "application/connect+json",
        code: .internalError
      ),
      Sample(
        name: "unknown compression",
        type: "application/proto",
        headers: ["content-encoding": "foo"],
        body: [1],
        code: .internalError
      ),
      Sample(
        name: "unannounced compression",
        streams: true,
        type: "application/connect+proto",
        headers: ["connect-content-encoding": "identity"],
        body: frame(1, [1]) + frame(2, "{}"),
        code: .internalError
      ),
    ]
    + [
      web(
        "status",
        [:],
        frame(0x80, "grpc-status: 9\r\ngrpc-message: error\r\n"),
        .failedPrecondition,
        "error"
      ),
      web(
        "cases",
        [:],
        frame(0x80, "Grpc-Status: 9\r\ngRPC-Message: error\r\n"),
        .failedPrecondition,
        "error"
      ),
      web(
        "compressed",
        ["grpc-encoding": "gzip"],
        frame(
          0x81,
          gzip("grpc-status: 9\r\ngrpc-message: error\r\nx: " + String(repeating: "y", count: 200) + "\r\n")
        ),
        .failedPrecondition,
        "error"
      ),
      web("no status", [:], frame(0x80, "grpc-message: error\r\n"), .unknown),
      web("no response", [:], frame(0x80, "grpc-status: 0\r\n"), .unimplemented),
      web(
        "two responses",
        [:],
        frame(0, [1]) + frame(0, [2]) + frame(0x80, "grpc-status: 0\r\n"),
        .unimplemented
      ),
      web("body counts", ["grpc-status": "8"], frame(0x80, "grpc-status: 9\r\n"), .failedPrecondition),
      web("another type", type: "image/jpeg", [:], [], .unknown),
      web(
        "another format",
        type: "application/grpc-web+json",
        [:],
        frame(0x80, "grpc-status: 0\r\n"),
        .internalError
      ),
      web("unknown compression", ["grpc-encoding": "foo"], frame(0x80, "grpc-status: 0\r\n"), .internalError),
      web("unannounced compression", [:], frame(1, [1]) + frame(0x80, "grpc-status: 0\r\n"), .internalError),
    ]
    + [
      (400, GRPCStatus.Code.internalError), (401, .unauthenticated), (403, .permissionDenied),
      (404, .unimplemented),
      (409, .unknown), (418, .unknown), (429, .unavailable), (502, .unavailable), (503, .unavailable),
      (504, .unavailable), (500, .unknown),
    ]
    .flatMap { status, code in
      [CallProtocol.connect, .grpcWeb].map {
        Sample(
          name: "\($0) \(status)",
          wireProtocol: $0,
          status: status,
          type: "text/plain",
          body: [1],
          code: code
        )
      }
    }

  @Test(arguments: samples, [HTTPVersion.negotiated, .http1])
  func responsesBecomeStatuses(_ sample: Sample, _ version: HTTPVersion) async throws {
    var server = ServerOptions()
    let method = sample.streams ? TestService.expand : TestService.get
    server.pages = [
      HTTPPage("POST", method.path) { _ in
        HTTPPage.Response(
          status: sample.status,
          contentType: sample.type,
          headers: sample.headers.adding("head", "a"),
          body: sample.body
        )
      }
    ]
    var channel = ChannelOptions()
    channel.wireProtocol = sample.wireProtocol
    channel.httpVersion = version
    try await TestPair.with(server: server, channel: channel) { pair async throws in
      let failure = await status {
        if sample.streams {
          _ = try await pair.expand(method, [1]).collected()
        } else {
          _ = try await pair.get(method, [1])
        }
      }
      #expect((failure?.code ?? .ok) == sample.code, "\(failure.map { "\($0)" } ?? "no failure")")
      if let message = sample.message { #expect(failure?.message == message) }
      #expect(StatusDetail.unpack(failure?.packedDetails ?? []) == sample.details)
    }
  }

  /// JSON can say more than HTTP can.
  @Test func invalidTrailersAreOmitted() async throws {
    var server = ServerOptions()
    let metadata =
      #"{"metadata": {"Upper": ["1"], "a b": ["2"], "c": ["3\r\nd: 4"], "grpc-status": ["5"], ":e": ["6"]}}"#
    server.pages = [
      HTTPPage("POST", TestService.expand.path) { _ in
        HTTPPage.Response(contentType: "application/connect+proto", body: Self.frame(2, metadata))
      }
    ]
    var channel = ChannelOptions()
    channel.wireProtocol = .connect
    try await TestPair.with(server: server, channel: channel) { pair async throws in
      let call = pair.channel.call(TestService.expand, options: CallOptions()).makeServerStreamingCall([1])
      for try await _ in call.responseStream {}
      #expect(try await call.trailingMetadata == ["upper": "1"])
    }
  }
}

extension HPACKHeaders {
  fileprivate func adding(_ name: String, _ value: String) -> HPACKHeaders {
    var headers = self
    headers.add(name: name, value: value)
    return headers
  }
}
