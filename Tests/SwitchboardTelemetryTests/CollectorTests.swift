import CertificateSupport
import EchoService
import Switchboard
import SwitchboardCall
import SwitchboardTelemetry
import TestSupport
import Testing

/// OTLP to a collector of PyPI's `opentelemetry-proto`: what it decodes, and what becomes of a process whose collector is bad.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct CollectorTests {
  /// How the collector is reached, and the peer that is it.
  struct Way: Sendable, CustomTestStringConvertible {
    let transport: OTLPOptions.Transport
    let peer: String
    var testDescription: String { transport.rawValue }

    static let all = [
      Way(transport: .grpc, peer: "collector"), Way(transport: .http, peer: "web"),
      Way(transport: .httpJSON, peer: "web"),
    ]
  }

  private final class Warnings: LogHandler {
    let all = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if level >= .warning { all.withLock { $0.append(message) } }
    }
  }

  /// Telemetry that is exported to a port when the test flushes it.
  private func telemetry(
    _ way: Way,
    port: String,
    _ change: (inout TelemetryOptions, inout OTLPOptions) -> Void = { _, _ in }
  ) throws -> Telemetry {
    var otlp = OTLPOptions(endpoint: "http://127.0.0.1:\(port)", transport: way.transport)
    otlp.headers = [("x-token", "secret")]
    var options = TelemetryOptions(serviceName: "checkout")
    options.batch.delay = .milliseconds(20)
    options.metricInterval = .seconds(3600)
    change(&options, &otlp)
    options.exporters = [.otlp(otlp)]
    return try Telemetry(options)
  }

  private func lines(of peer: PythonPeer, while isWanted: ([String]) -> Bool) -> [String] {
    var lines: [String] = []
    while isWanted(lines), let line = peer.line() { lines.append(line) }
    return lines
  }

  private func nothingIsLost(_ telemetry: Telemetry) -> Bool {
    telemetry.drops.values.allSatisfy {
      [$0.queueFull, $0.notExported, $0.shutDown, $0.unended] == [0, 0, 0, 0]
    }
  }

  private func call(_ telemetry: Telemetry, times: Int = 1) async throws {
    let observer = telemetry.observer()
    let log = Logger(TelemetryLog(telemetry, descriptor: nil), minimumLevel: .info)
    let echo = TracedEcho { _ in log.log(.info, "served", ["who": "me"]) }
    try await withEcho(echo, server: observer, client: observer) { client, _ in
      for _ in 0..<times { _ = try await client.get(.with { $0.text = "x" }) }
    }
  }

  @Test(arguments: Way.all, [MessageCompression.none, .gzip])
  func aCollectorDecodesAllSignals(_ way: Way, _ compression: MessageCompression) async throws {
    let peer = try PythonPeer("telemetry_peer.py", [way.peer, "ok"])
    let port = try #require(peer.line())
    let telemetry = try telemetry(way, port: port) { $1.compression = compression }
    try await call(telemetry)
    await telemetry.shutDown()
    let lines = lines(of: peer) { lines in
      !(lines.filter { $0.hasPrefix("span") }.count == 3 && lines.contains { $0.hasPrefix("log") }
        && lines.contains { $0.hasPrefix("metric grpc.client.call.duration") })
    }
    peer.stop()
    let spans = lines.filter { $0.hasPrefix("span checkout ") }.map { $0.split(separator: " ") }
    #expect(
      Set(spans.map { $0[2] }) == ["Sent.echo.Echo.Get", "Attempt.echo.Echo.Get", "Recv.echo.Echo.Get"]
    )
    #expect(Set(spans.map { $0[3] }).count == 1)
    #expect(lines.contains("metric grpc.client.attempt.duration histogram 1"))
    #expect(lines.contains("metric grpc.server.call.started sum 1"))
    let log = try #require(lines.first { $0.hasPrefix("log") })
    #expect(log == "log checkout INFO served \(spans.first?[3] ?? "")")
    #expect(nothingIsLost(telemetry))
  }

  @Test(arguments: Way.all) func whatACollectorRejectsIsCounted(_ way: Way) async throws {
    let peer = try PythonPeer("telemetry_peer.py", [way.peer, "partial"])
    let port = try #require(peer.line())
    let warnings = Warnings()
    let telemetry = try telemetry(way, port: port) { options, _ in options.logger = Logger(warnings) }
    try await call(telemetry)
    await telemetry.flush()
    #expect(telemetry.drops[.metrics]?.notExported == 1)
    #expect(telemetry.drops[.logs]?.notExported == 1)
    #expect(try #require(telemetry.drops[.traces]).notExported >= 1)
    await telemetry.shutDown()
    peer.stop()
    // Once for each signal, however many batches there were.
    #expect(warnings.all.withLock { $0.count } == 3)
  }

  @Test(arguments: Way.all, ["refuse", "nonsense"])
  func aRejectingCollectorLosesOnlyTelemetry(_ way: Way, _ mode: String) async throws {
    let peer = try PythonPeer("telemetry_peer.py", [way.peer, mode])
    let port = try #require(peer.line())
    let warnings = Warnings()
    let telemetry = try telemetry(way, port: port) { options, otlp in
      options.logger = Logger(warnings)
      otlp.retryLimit = .milliseconds(200)
    }
    try await call(telemetry, times: 50)
    await telemetry.shutDown(within: .seconds(20))
    peer.stop()
    #expect(telemetry.drops[.traces].map { $0.notExported + $0.queueFull } == 150)
    #expect(warnings.all.withLock { $0.count } == 3)
  }

  @Test(arguments: Way.all) func aSlowOrAbsentCollectorNeverDelaysCalls(_ way: Way) async throws {
    let peer = way.transport == .grpc ? try PythonPeer("telemetry_peer.py", ["collector", "slow"]) : nil
    // Port 1 is nobody's.
    let port = peer?.line() ?? "1"
    let telemetry = try telemetry(way, port: port) { options, _ in
      options.batch.queueSize = 64
      options.batch.batchSize = 32
    }
    try await call(telemetry, times: 200)
    // All calls have ended; of their spans and log records no more are kept than the queue holds.
    let drops = telemetry.drops
    #expect(try #require(drops[.traces]).queueFull >= 600 - 64)
    #expect(try #require(drops[.logs]).queueFull >= 200 - 64)
    await telemetry.shutDown(within: .milliseconds(100))
    #expect(telemetry.drops[.traces].map { $0.notExported + $0.queueFull } ?? 0 > 0)
    peer?.stop()
  }

  @Test(arguments: Way.all.dropFirst()) func retryableFailuresAreRetried(_ way: Way) async throws {
    let peer = try PythonPeer("telemetry_peer.py", [way.peer, "late"])
    let port = try #require(peer.line())
    let telemetry = try telemetry(way, port: port)
    try await call(telemetry)
    await telemetry.flush()
    #expect(nothingIsLost(telemetry))
    let lines = lines(of: peer) { $0.filter { $0.hasPrefix("span") }.count < 3 }
    #expect(lines.filter { $0.hasPrefix("span") }.count == 3)
    await telemetry.shutDown()
    peer.stop()
  }

  @Test(arguments: Way.all, [true, false])
  func theCertificateOfACollectorIsVerified(_ way: Way, _ isTrusted: Bool) async throws {
    guard case .bytes(let certificate) = TestCertificates.serverCertificate,
      case .bytes(let key) = TestCertificates.serverKey
    else { throw Unexpected() }
    let files = try [certificate, key].map { try temporaryFile($0, suffix: "pem") }
    let peer = try PythonPeer("telemetry_peer.py", [way.peer, "ok"] + files)
    let port = try #require(peer.line())
    let warnings = Warnings()
    let telemetry = try telemetry(way, port: port) { options, otlp in
      options.logger = Logger(warnings)
      otlp.endpoint = "https://127.0.0.1:\(port)"
      otlp.timeout = .seconds(isTrusted ? 10 : 2)
      otlp.retryLimit = .milliseconds(isTrusted ? 10_000 : 100)
      var tls = ClientTLS()
      tls.trustRoots = isTrusted ? TestCertificates.authority : TestCertificates.stranger
      otlp.tls = tls
    }
    try await call(telemetry)
    await telemetry.shutDown(within: .seconds(20))
    if isTrusted {
      let lines = lines(of: peer) { $0.filter { $0.hasPrefix("span") }.count < 3 }
      #expect(lines.filter { $0.hasPrefix("span") }.count == 3)
      #expect(nothingIsLost(telemetry))
    } else {
      // Nothing was sent to a stranger, and its certificate is why.
      #expect(telemetry.drops[.traces].map { $0.notExported + $0.queueFull } == 3)
      #expect(warnings.all.withLock { $0.count } == 3)
    }
    peer.stop()
  }

  private struct Unexpected: Error {}

  @Test func headersReachACollectorOverHTTP() async throws {
    let peer = try PythonPeer("telemetry_peer.py", ["web", "ok"])
    let port = try #require(peer.line())
    let telemetry = try telemetry(Way.all[2], port: port)
    telemetry.metrics.counter("a").add()
    await telemetry.flush()
    let lines = lines(of: peer) { !$0.contains { $0.hasPrefix("headers") } }
    #expect(lines.last == "headers secret application/json")
    await telemetry.shutDown()
    peer.stop()
  }
}
