import CallTestSupport
import EchoService
import Foundation
import Switchboard
import SwitchboardCall
import SwitchboardTelemetry
import TestSupport
import Testing

/// Debian's `prometheus` reads what a server counts.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PrometheusTests {
  /// A server of metrics that scrapes ports of this machine every few seconds.
  private final class Prometheus {
    private let folder: URL
    private let process: ChildProcess
    private let port: Int

    init(scraping ports: [String]) throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "prometheus-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let targets = ports.map { "'127.0.0.1:\($0)'" }.joined(separator: ", ")
      let configuration = """
        global:
          scrape_interval: 3s
          scrape_timeout: 3s
        scrape_configs:
          - job_name: ours
            static_configs:
              - targets: [\(targets)]
        """
      let file = folder.appending(path: "prometheus.yml")
      try configuration.write(to: file, atomically: true, encoding: .utf8)
      port = try Self.freePort()
      process = try ChildProcess(
        "/usr/bin/prometheus",
        [
          "--config.file=\(file.path)", "--storage.tsdb.path=\(folder.appending(path: "data").path)",
          "--web.listen-address=127.0.0.1:\(port)", "--log.level=error", "--enable-feature=exemplar-storage",
        ],
        errors: .discarded
      )
    }

    deinit {
      process.end(with: SIGKILL)
      try? FileManager.default.removeItem(at: folder)
    }

    private static func freePort() throws -> Int {
      let (descriptor, port) = try LoopbackSocket.listening()
      close(descriptor)
      return port
    }

    /// What it answers instead of what the questions expect, if it keeps doing so.
    func wrongAnswers(to questions: [String]) throws -> [String] {
      let peer = try PythonPeer("promql.py", ["\(port)"] + questions)
      var wrong: [String] = []
      for _ in questions {
        let answer = peer.line() ?? "nothing"
        if answer != "ok" { wrong.append(answer) }
      }
      peer.stop()
      return wrong
    }
  }

  @Test func prometheusCountsWhatTheServerCounted() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let observer = telemetry.observer()
    let ownAddress = try telemetry.serveMetrics(port: 0)
    let ownPort = "\(ownAddress)".split(separator: ":").last.map(String.init) ?? ""
    try await withEcho(TracedEcho(), server: observer, client: observer) { server, _ in
      // On the port of the calls too.
      server.pages = [telemetry.metricsPage()]
    } _: { client, target in
      let port = target.split(separator: ":").last.map(String.init) ?? ""
      let prometheus = try Prometheus(scraping: [ownPort, port])
      let count = 500
      for number in 0..<count {
        _ = await status { _ = try await client.get(.with { $0.text = number % 5 == 0 ? "fail" : "x" }) }
      }
      for instance in ["instance=\"127.0.0.1:\(ownPort)\"", "instance=\"127.0.0.1:\(port)\""] {
        let wrong = try prometheus.wrongAnswers(to: [
          "grpc_server_call_started_total{\(instance),grpc_method=\"echo.Echo/Get\"}=\(count)",
          "sum(grpc_server_call_duration_seconds_count{\(instance),grpc_status=\"OK\"})=400",
          "grpc_client_attempt_duration_seconds_count{\(instance),grpc_status=\"ABORTED\"}=100",
          "histogram_quantile(0.5, sum by (le) (grpc_server_call_duration_seconds_bucket{\(instance)}))=+",
          "target_info{\(instance),service_name=\"test\"}=1",
          "grpc_server_call_duration_seconds_bucket{\(instance)}=exemplars",
        ])
        #expect(wrong.isEmpty)
      }
    }
    await telemetry.shutDown()
  }
}
