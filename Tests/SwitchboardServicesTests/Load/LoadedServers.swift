import CallTestSupport
import EchoService
import EchoTestSupport
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardServices
@testable import SwitchboardTransport

/// A channel that balances by load, and how it spreads calls. Its time is moved.
struct WeightedClient {
  let client: Echo_EchoClient
  private let loop: Loop

  init(_ ports: [Int], outOfBand: Bool) throws {
    var options = ChannelOptions()
    let endpoints = ports.map { Endpoint([.ipv4(0x7F00_0001, port: UInt16(clamping: $0))]) }
    options.security = .plaintext
    options.resolvers = [StaticResolver(endpoints)]
    options.serviceConfig = try ServiceConfig(
      json: """
        {"loadBalancingConfig": [{"weighted_round_robin": {
          "blackoutPeriod": "0s", "enableOobLoadReport": \(outOfBand), "oobReportingPeriod": "1s"}}]}
        """
    )
    let channel = try Channel(target: "static:///echo.example", options: options)
    client = Echo_EchoClient(channel: channel)
    loop = try #require(channel.transport as? HTTP2ClientTransport).loop
  }

  /// The shares of the servers in some calls, made one after the other, by the names that they answer with.
  func shares(of calls: Int) async throws -> [String: Double] {
    var shares: [String: Double] = [:]
    for _ in 0..<calls {
      shares[try await client.get(.with { $0.text = "who?" }).text, default: 0] += 1 / Double(calls)
    }
    return shares
  }

  /// Returns once calls are spread so, after weights have been computed again as often as that takes.
  ///
  /// The tolerance is narrow, because shares are near while one weight is still unknown.
  func waitUntilSharesAre(_ expected: [String: Double]) async throws {
    while !Self.are(try await shares(of: 350), expected, within: 0.015) {
      await loop.advance(by: .seconds(1))
    }
  }

  static func are(_ shares: [String: Double], _ expected: [String: Double], within tolerance: Double) -> Bool
  {
    shares.count == expected.count
      && expected.allSatisfy { abs($0.value - shares[$0.key, default: 0]) < tolerance }
  }

  func shutDown() async { await client.channel.shutDown(grace: .zero) }
}

/// Three servers that report loads, both with calls and besides.
struct LoadedServers {
  /// Answers with its name, and reports with each call what its recorder holds.
  private struct Replica: EchoingProvider {
    let name: String
    let load: LoadRecorder

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.loadReport = load.report
      return .with { $0.text = name }
    }
  }

  /// What is reported with calls, and besides.
  let ofCalls = [LoadRecorder(), LoadRecorder(), LoadRecorder()]
  let besides = [LoadRecorder(), LoadRecorder(), LoadRecorder()]
  let time = [ManualTime(), ManualTime(), ManualTime()]
  private(set) var ports: [Int] = []

  static func with(_ body: (LoadedServers) async throws -> Void) async throws {
    var loaded = LoadedServers()
    try await withServers((0..<3).map(loaded.providers)) { _, addresses async throws in
      loaded.ports = addresses.map(\.port)
      try await body(loaded)
    }
  }

  private func providers(_ number: Int) -> [any CallHandlerProvider] {
    [
      Replica(name: "\(number)", load: ofCalls[number]),
      LoadReportService(besides[number], minimumInterval: .milliseconds(100), time: time[number]),
    ]
  }

  /// Sets loads by which the servers have these weights.
  static func set(_ weights: [Double], of recorders: [LoadRecorder]) {
    for (recorder, weight) in zip(recorders, weights) {
      recorder.update {
        $0.queriesPerSecond = 100
        $0.applicationUtilization = 100 / weight
      }
    }
  }

  /// The shares that these weights give.
  static func law(_ weights: [Double]) -> [String: Double] {
    let sum = weights.reduce(0, +)
    return Dictionary(uniqueKeysWithValues: weights.enumerated().map { ("\($0)", $1 / sum) })
  }
}
