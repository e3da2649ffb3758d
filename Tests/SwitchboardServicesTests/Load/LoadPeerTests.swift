import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// Load reports to and from grpcio, with the messages of PyPI's `xds-protos`.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LoadPeerTests {
  /// Reports its load with each call, and fails if it is told to.
  private struct BusyEcho: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.setTrailers(["note": "kept"])
      context.loadReport.cpuUtilization = 0.25
      context.loadReport.requestCost["rows"] = 3
      if request.text == "fail" { throw GRPCStatus(code: .aborted, message: "no") }
      return .with { $0.text = request.text }
    }
  }

  @Test func grpcioUnderstandsOurReports() async throws {
    let recorder = LoadRecorder()
    recorder.update {
      $0.cpuUtilization = 0.75
      $0.memoryUtilization = 0.5
      $0.applicationUtilization = 1.5
      $0.queriesPerSecond = 10
      $0.errorsPerSecond = 1
      $0.utilization = ["disk": 0.125]
      $0.namedMetrics = ["credit": -2]
    }
    var options = ServerOptions()
    options.loadRecorder = recorder
    let service = LoadReportService(recorder, minimumInterval: .milliseconds(10))
    try await withServer([BusyEcho(), service], options: options) { _, address async throws in
      // grpcio keeps the trailer from its users, so the peer is given what our own client gets.
      let client = Echo_EchoClient(channel: try Channel(target: "\(address)"))
      var trailers: [String] = []
      for text in ["hello", "fail"] {
        let call = client.makeGetCall(.with { $0.text = text })
        #expect(await call.status.code == (text == "fail" ? .aborted : .ok))
        let metadata = try await call.trailingMetadata
        #expect(metadata.first(name: "note") == "kept")
        trailers.append(try #require(metadata.first(name: "endpoint-load-metrics-bin")))
      }
      await client.channel.shutDown(grace: .zero)
      let peer = try PythonPeer("load_peer.py", ["client", "\(address)"] + trailers)
      var lines: [String] = []
      while let line = peer.line() {
        lines.append(line)
        if line == "streaming" { recorder.update { $0.cpuUtilization = 0.875 } }
      }
      peer.stop()
      #expect(lines == ["streaming", "done"])
    }
  }

  private func withClient(
    _ arguments: [String],
    outOfBand: Bool,
    _ body: (WeightedClient) async throws -> Void
  ) async throws {
    let peer = try PythonPeer("load_peer.py", arguments)
    defer { peer.stop() }
    let ports = try #require(peer.line()).split(separator: " ").compactMap { Int($0) }
    let client = try WeightedClient(ports, outOfBand: outOfBand)
    try await withEnd(client.shutDown) { try await body(client) }
  }

  /// The peers have one order of weights with calls, and the reverse besides.
  @Test(arguments: [false, true]) func callsFollowTheReportsOfGrpcio(outOfBand: Bool) async throws {
    try await withClient(["servers", "400", "200", "100"], outOfBand: outOfBand) { client async throws in
      let law = LoadedServers.law(outOfBand ? [100, 200, 400] : [400, 200, 100])
      try await client.waitUntilSharesAre(law)
      let shares = try await client.shares(of: 700)
      #expect(WeightedClient.are(shares, law, within: 0.02), "\(shares) instead of \(law)")
    }
  }

  /// Random bytes, numbers that are none or negative, huge maps: calls go to all in turn, as without reports.
  @Test(arguments: [false, true]) func hostileReportsDoNoHarm(outOfBand: Bool) async throws {
    try await withClient(["hostile"], outOfBand: outOfBand) { client async throws in
      let even = LoadedServers.law([1, 1, 1])
      for _ in 0..<3 { try await client.waitUntilSharesAre(even) }
      let shares = try await client.shares(of: 300)
      #expect(WeightedClient.are(shares, even, within: 0.02), "\(shares)")
    }
  }
}
