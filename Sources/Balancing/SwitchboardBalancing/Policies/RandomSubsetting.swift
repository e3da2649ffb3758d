import SwitchboardCall

/// Each client uses its own random subset of the endpoints, which changes little when endpoints come and go
/// (`random_subsetting`, gRFC A68).
struct RandomSubsetting: LoadBalancingPolicy {
  var name: String { "random_subsetting" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> RandomSubsettingBalancer.Config {
    let member = reader.has("subset_size") && !reader.has("subsetSize") ? "subset_size" : "subsetSize"
    let size = try reader.required(member, try reader.count(member, in: 1...ConfigLimit.count))
    var policy = try policies.choose("childPolicy", of: reader)
    if policy == nil { policy = try policies.choose("child_policy", of: reader) }
    return RandomSubsettingBalancer.Config(
      subsetSize: size,
      policy: try reader.requiredPolicy("childPolicy", policy)
    )
  }

  func makeBalancer(_ host: any BalancerHost) -> RandomSubsettingBalancer { RandomSubsettingBalancer(host) }
}

/// The balancer of `random_subsetting`.
final class RandomSubsettingBalancer: LoadBalancer {
  struct Config: Hashable, Sendable {
    /// At least 1.
    var subsetSize: Int
    var policy: PolicyChoice
  }

  private let child: ChildBalancer
  /// The seed that makes this client's subset differ from those of others.
  private let salt: UInt64

  init(_ host: any BalancerHost) {
    child = ChildBalancer(host)
    salt = host.random()
  }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    try child.update(subset(of: endpoints, config.subsetSize), config.policy)
  }

  /// The endpoints with the lowest hashes (rendezvous hashing). An added or removed endpoint changes at most one
  /// member.
  private func subset(of endpoints: [Endpoint], _ size: Int) -> [Endpoint] {
    let usable = endpoints.filter { !$0.addresses.isEmpty }
    guard usable.count > size else { return usable }
    return
      usable.map { (hash: XXHash64.hash($0.addresses[0].bare.description, seed: salt), endpoint: $0) }
      .sorted { $0.hash < $1.hash }
      .prefix(size)
      .map(\.endpoint)
  }

  func resolverFailed(_ status: GRPCStatus) { child.resolverFailed(status) }
  func leaveIdle() { child.leaveIdle() }
  func shutDown() { child.shutDown() }
}
