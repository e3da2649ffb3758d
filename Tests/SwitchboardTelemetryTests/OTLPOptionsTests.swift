import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardSchema
import TestSupport
import Testing

@testable import SwitchboardTelemetry

/// What the options of an exporter may be, and what a collector gets to see of them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OTLPOptionsTests {
  private func options(_ otlp: OTLPOptions) -> TelemetryOptions {
    var options = TelemetryOptions(serviceName: "test")
    options.exporters = [.otlp(otlp)]
    return options
  }

  private func endpoint(
    _ url: String,
    _ transport: OTLPOptions.Transport = .http,
    isWhole: Bool = false
  ) throws -> OTLPEndpoint {
    var options = OTLPOptions(endpoint: url, transport: transport)
    options.isWholeURL = isWhole
    return try OTLPEndpoint(options)
  }

  @Test func endpointsAreURLs() throws {
    let secure = try endpoint("https://collector.example/otlp")
    #expect(secure.isSecure && secure.host == "collector.example" && secure.port == 4318)
    #expect(secure.path == "/otlp")
    #expect(try endpoint("http://[::1]:99").target == "dns:///[::1]:99")
    #expect(try endpoint("http://unix:4317", .grpc).target == "dns:///unix:4317")
    #expect(try endpoint("HTTP://localhost", .grpc).description == "http://localhost:4317")
    #expect(try endpoint("http://localhost/", .grpc).port == 4317)
    #expect(try endpoint("http://a/b?c=d", isWhole: true).path == "/b?c=d")
    #expect(try endpoint("http://a?c=d", isWhole: true).path == "/?c=d")
  }

  private static let noPort = "has a port that is not a number from 1 to 65535"

  @Test(arguments: [
    ("", "has no scheme"), ("localhost:4317", "has no scheme"), ("http//localhost:4317", "has no scheme"),
    ("ftp://a", "has a scheme that is neither http nor https"), ("http://", "has no host"),
    ("http://:1", "has no host"),
    ("http://a:secret", noPort), ("http://a:99999", noPort), ("http://a:0", noPort), ("http://a:+80", noPort),
    ("http://a:", noPort), ("http://user:secret@a", "has user information, which belongs in a header"),
    ("http://a?x=secret", "has a query, to which no path can be appended"),
    ("http://a/#secret", "has a fragment"),
    ("http://a b", "has a space or another character that no URL contains"),
    ("http://a/\r\n", "has a space or another character that no URL contains"),
  ])
  func anEndpointThatCannotWorkIsAnError(_ url: String, _ fault: String) {
    for transport in [OTLPOptions.Transport.grpc, .http] {
      let options = options(OTLPOptions(endpoint: url, transport: transport))
      let failure = #expect(throws: GRPCStatus.self) { try Telemetry(options) }
      #expect(failure?.code == .invalidArgument)
      let fault = transport == .grpc && url.contains("?") ? "has a path, which does not go with gRPC" : fault
      #expect(
        failure?.message
          == "the collector's URL \(fault); a valid one is http://localhost:4317, or over HTTP http://localhost:4318"
      )
    }
  }

  @Test(arguments: ["http://[::1", "http://::1", "http://a[b]"]) func aHostIsANameOrAnAddress(_ url: String) {
    #expect(throws: GRPCStatus.self) { try endpoint(url) }
  }

  @Test func overGRPCAnEndpointHasNoPath() {
    let failure = #expect(throws: GRPCStatus.self) { try endpoint("http://localhost:4317/v1/traces", .grpc) }
    #expect(failure?.message?.contains("has a path, which does not go with gRPC") == true)
  }

  @Test(arguments: [
    ("bad name", "x", "is not a name that HTTP allows"), ("", "x", "is not a name that HTTP allows"),
    (":path", "/", "is one that the exporter sets itself"),
    (
      "x-ok", "a\nb: c",
      "has a value that HTTP does not allow (it has a line break, or another control character)"
    ),
    ("x-ok", " x", "has a value that HTTP does not allow (it begins or ends with a space)"),
    ("Content-Type", "text/plain", "is one that the exporter sets itself"),
    ("content-encoding", "br", "is one that the exporter sets itself"),
    ("host", "a", "is one that the exporter sets itself"),
    ("user-agent", "a", "is one that the exporter sets itself"),
    ("grpc-timeout", "1S", "is one that the exporter sets itself"),
  ])
  func aHeaderThatCannotBeSentIsAnError(_ name: String, _ value: String, _ fault: String) {
    for transport in [OTLPOptions.Transport.grpc, .http] {
      var otlp = OTLPOptions(transport: transport)
      otlp.headers = [("x-token", "secret"), (name, value)]
      let failure = #expect(throws: GRPCStatus.self) { try Telemetry(options(otlp)) }
      #expect(failure?.code == .invalidArgument)
      #expect(failure?.message == "the header \(name.debugDescription) for the collector \(fault)")
    }
  }

  @Test func overHTTPOnlyGzipCompresses() throws {
    var otlp = OTLPOptions(transport: .httpJSON)
    for compression in MessageCompression.allCases {
      otlp.compression = compression
      let isKnown = [.none, .gzip].contains(compression)
      #expect(((try? Telemetry(options(otlp))) != nil) == isKnown)
    }
  }

  @Test func settingsOfTLSNeedHTTPS() {
    for transport in [OTLPOptions.Transport.grpc, .http] {
      var otlp = OTLPOptions(endpoint: "http://localhost:1", transport: transport)
      otlp.tls = ClientTLS(trustRoots: .file("no/roots.pem"))
      let failure = #expect(throws: GRPCStatus.self) { try Telemetry(options(otlp)) }
      #expect(
        failure?.message == "OTLPOptions.tls is set, but the collector's URL begins with http, not https"
      )
    }
  }

  private let userAgent = "OTel-OTLP-Exporter-Switchboard/\(Release.version)"

  @Test func aCollectorSeesHeadersOverGRPC() async throws {
    let collector = ScriptedGRPCCollector([])
    try await withServer([collector]) { _, address async throws in
      let port = address.port
      var otlp = OTLPOptions(endpoint: "http://127.0.0.1:\(port)")
      otlp.headers = [("X-Token", "secret")]
      let telemetry = try Telemetry(options(otlp))
      telemetry.tracer.startSpan("span").end()
      await telemetry.shutDown()
      let headers = collector.headers.withLock { $0 }
      #expect(headers["x-token"] == ["secret"])
      #expect(headers["user-agent"].first?.hasPrefix("\(userAgent) ") == true)
    }
  }

  @Test func aCollectorSeesHeadersOverHTTP() async throws {
    let socket = try ScriptedSocket()
    var otlp = OTLPOptions(endpoint: "http://127.0.0.1:\(socket.port)", transport: .http)
    otlp.headers = [("X-Token", "secret")]
    let telemetry = try Telemetry(options(otlp))
    telemetry.tracer.startSpan("span").end()
    async let end: Void = telemetry.shutDown()
    let lines = await socket.answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    #expect(lines.contains("x-token: secret"))
    #expect(lines.contains("user-agent: \(userAgent.lowercased())"))
    await end
  }
}
