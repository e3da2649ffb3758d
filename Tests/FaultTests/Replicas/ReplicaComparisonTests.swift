import EchoService
import Switchboard
import TestSupport
import Testing

/// The same service config, servers and calls with grpcio and with us: the calls go to the same servers.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct ReplicaComparisonTests {
  @Test func roundRobinHasTheSameShares() async throws {
    try await compareShares(of: ReplicaConfig.roundRobin, on: ReplicaProcesses(ours: 5, grpcio: 2))
  }

  @Test func outlierDetectionHasTheSameShares() async throws {
    let settings = #"{"childPolicy": [{"round_robin": {}}], "failurePercentageEjection": {}}"#
    let config = ReplicaConfig.with("outlier_detection_experimental", settings)
    try await compareShares(of: config, on: ReplicaProcesses(ours: 5, grpcio: 2))
  }

  @Test func weightedRoundRobinHasTheSameShares() async throws {
    let settings = #"{"blackoutPeriod": "0s", "weightUpdatePeriod": "0.1s"}"#
    let replicas = try ReplicaProcesses(ours: 0, grpcio: 4, loads: [0.2, 0.4, 0.6, 0.8])
    let config = ReplicaConfig.with("weighted_round_robin", settings)
    let shares = try await compareShares(of: config, on: replicas)
    // The law: as the inverse of the load.
    let weights = [1 / 0.2, 1 / 0.4, 1 / 0.6, 1 / 0.8]
    for (server, weight) in zip(replicas.servers, weights) {
      #expect(abs((shares[server.name] ?? 0) - weight / weights.reduce(0, +)) < 0.02)
    }
  }

  @Test func ringHashHasTheSameServerForEachKey() async throws {
    let replicas = try ReplicaProcesses(ours: 5, grpcio: 2)
    let config = ReplicaConfig.with("ring_hash_experimental", #"{"requestHashHeader": "user"}"#)
    let (ours, theirs) = try await answers(to: 400, with: config, on: replicas)
    #expect(ours == theirs)
    #expect(Set(ours).count == 7)
  }

  /// Our shares.
  @discardableResult
  private func compareShares(of config: String, on replicas: ReplicaProcesses) async throws -> [String:
    Double]
  {
    let (ours, theirs) = try await answers(to: 1400, with: config, on: replicas)
    let (shares, theirShares) = (shares(ours), shares(theirs))
    for server in replicas.servers {
      let difference = abs((shares[server.name] ?? 0) - (theirShares[server.name] ?? 0))
      #expect(difference < 0.03, "\(server.name): \(shares) here and \(theirShares) there")
    }
    return shares
  }

  private func shares(_ names: [String]) -> [String: Double] {
    Dictionary(grouping: names) { $0 }.mapValues { Double($0.count) / Double(names.count) }
  }

  /// Who answers each of some calls, which both sides make when they are connected to all servers.
  private func answers(
    to calls: Int,
    with config: String,
    on replicas: ReplicaProcesses
  ) async throws -> (ours: [String], theirs: [String]) {
    let count = replicas.servers.count
    let peer = try PythonPeer(
      "replicas_peer.py",
      ["client", replicas.target, config, "\(calls)", "\(count)"]
    )
    var theirs: [String] = []
    while let line = peer.line(), line != "done" { theirs.append(line) }

    let channel = try replicas.channel(config)
    let client = Echo_EchoClient(channel: channel)
    var seen: Set<String> = []
    let end = ContinuousClock.now + .seconds(1)
    while seen.count < count || ContinuousClock.now < end { seen.formUnion(try await client.whoAnswer(100)) }
    let ours = try await client.whoAnswer(calls)
    await channel.shutDown(grace: .zero)
    return (ours, theirs)
  }
}
