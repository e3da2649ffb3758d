import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// What follows the rules of a control plane.
enum DataPlane: String, CaseIterable {
  case ours
  case grpc = "gRPC's client"
  case envoy = "Envoy"
}

/// Our client, gRPC's own (C-core, by grpcio) and Envoy, which all follow the rules of one control plane at once, to the same servers.
struct DataPlanes {
  /// How many calls each makes by a rule.
  static let calls = 1000

  let plane: PlanePeer
  /// Those that have the rule: not all have all.
  let all: [DataPlane]
  /// Of the servers.
  let ports: [Int]
  let ours: Echo_EchoClient
  let others: GRPCClient
  let proxy: EnvoyProxy
  /// An ordinary client, of Envoy.
  let proxied: Echo_EchoClient

  /// What clients of gRPC know from elsewhere.
  struct Setting {
    /// Whether their bootstrap trusts the control plane.
    var isTrusted = false
    /// Whether the control plane wants reports of calls, each second.
    var hasReports = false
    /// The owner in the name of the target.
    var owner = ""

    /// The name of the clients' listener.
    var listener: String {
      owner.isEmpty ? "greeter" : "xdstp://\(owner)/envoy.config.listener.v3.Listener/greeter"
    }
  }

  /// How often each server, or each status, answers the calls of each.
  func answers(
    _ calls: Int = Self.calls,
    _ metadata: [(String, String)] = [],
    atOnce: Int = 1
  ) async throws -> [DataPlane: [String: Int]] {
    var answers: [DataPlane: [String: Int]] = [:]
    for plane in all {
      answers[plane] = try await self.answers(of: plane, calls, metadata, atOnce: atOnce)
    }
    return answers
  }

  func answers(
    of plane: DataPlane,
    _ calls: Int = Self.calls,
    _ metadata: [(String, String)] = [],
    atOnce: Int = 1
  ) async throws -> [String: Int] {
    switch plane {
    case .ours: try await ours.answers(calls, metadata, atOnce: atOnce)
    case .grpc: try others.answers(calls, metadata, atOnce: atOnce)
    case .envoy: try await proxied.answers(calls, metadata, atOnce: atOnce)
    }
  }

  /// Expects of each that its calls are answered in these shares, in thousandths.
  ///
  /// How many of n calls a share p has is a binomial random number. It is within six standard deviations of `n * p`, but in one
  /// of some hundred million cases.
  func expect(
    _ expected: [String: Int],
    ofEnvoy expectedOfEnvoy: [String: Int]? = nil,
    _ metadata: [(String, String)] = [],
    atOnce: Int = 8
  ) async throws {
    for (plane, answers) in try await answers(Self.calls, metadata, atOnce: atOnce) {
      let shares = plane == .envoy ? expectedOfEnvoy ?? expected : expected
      for name in Set(answers.keys).union(shares.keys) {
        let share = Double(shares[name] ?? 0) / 1000
        let spread = 6 * (share * (1 - share) * Double(Self.calls)).squareRoot()
        let difference = abs(Double(answers[name] ?? 0) - share * Double(Self.calls))
        #expect(difference <= spread, "\(plane.rawValue): \(answers), expected \(shares)")
      }
    }
  }

  /// Makes calls until each of these servers has answered each data plane: clients of gRPC leave out those to which they have no
  /// connection yet.
  func connect(_ names: Set<String>) async throws {
    for plane in all {
      var missing = names
      while !missing.isEmpty {
        missing.subtract(try await answers(of: plane, 10, []).keys)
        try Task.checkCancellation()
      }
    }
  }
}

/// Runs `body` with all three at a control plane that has the mesh, which is made of the ports of servers with the names `s0`, `s1` and
/// so on. `refusals` are what is said of resources that some of them refuse.
func withDataPlanes<Value>(
  servers: Int,
  of all: [DataPlane] = DataPlane.allCases,
  refusals: [String] = [],
  with setting: DataPlanes.Setting = .init(),
  _ mesh: ([Int]) throws -> Mesh,
  _ body: (DataPlanes) async throws -> Value
) async throws -> Value {
  try await withDataPlanes(
    servers: (0..<servers).map { NamedEcho(name: "s\($0)") },
    of: all,
    refusals: refusals,
    with: setting,
    mesh,
    body
  )
}

/// The same with other servers.
func withDataPlanes<Value>(
  servers: [any CallHandlerProvider],
  of all: [DataPlane] = DataPlane.allCases,
  refusals: [String] = [],
  with setting: DataPlanes.Setting = .init(),
  _ mesh: ([Int]) throws -> Mesh,
  _ body: (DataPlanes) async throws -> Value
) async throws -> Value {
  try await withMesh(servers) { plane, ports async throws in
    if setting.hasReports { try plane.command(["reports": ["seconds": 1]]) }
    try plane.set(try mesh(ports).withProxy)
    return try await withDataPlanes(at: [plane], ports, of: all, with: setting) { planes async throws in
      let found = try plane.refusals()
      #expect(found == refusals)
      let value = try await body(planes)
      let later = try plane.refusals()
      #expect(later == refusals)
      return value
    }
  }
}

/// The same at control planes of which the second is for want of the first.
func withDataPlanes<Value>(
  at planes: [PlanePeer],
  _ ports: [Int],
  of all: [DataPlane] = DataPlane.allCases,
  with setting: DataPlanes.Setting = .init(),
  _ body: (DataPlanes) async throws -> Value
) async throws -> Value {
  let proxy = try EnvoyProxy(planes)
  let others = try GRPCClient(
    planes,
    features: setting.isTrusted ? ["trusted_xds_server"] : [],
    owner: setting.owner
  )
  defer {
    others.stop()
    proxy.stop()
  }
  var bootstrap = XDSBootstrap(servers: planes.flatMap(\.bootstrap.servers), node: .init(id: "test-client"))
  if setting.isTrusted { bootstrap.servers[0].features = [.trusted] }
  if !setting.owner.isEmpty { bootstrap.authorities[setting.owner] = XDSBootstrap.Authority() }
  var options = ChannelOptions()
  options.security = .plaintext
  options.authority = "greeter"
  return try await withMeshClient("xds://\(setting.owner)/greeter", bootstrap) { ours async throws in
    let address = try proxy.address(of: setting.listener)
    return try await withChannel(to: address, options: options) { channel async throws in
      try await body(
        DataPlanes(
          plane: planes[0],
          all: all,
          ports: ports,
          ours: ours,
          others: others,
          proxy: proxy,
          proxied: Echo_EchoClient(channel: channel)
        )
      )
    }
  }
}

extension Echo_EchoClient {
  /// How often each server, or each status, answers so many calls, of which so many are made at once.
  func answers(
    _ calls: Int,
    _ metadata: [(String, String)] = [],
    atOnce: Int = 1
  ) async throws -> [String: Int] {
    try await withThrowingTaskGroup(of: [String: Int].self) { group in
      for caller in 0..<atOnce {
        group.addTask {
          var answers: [String: Int] = [:]
          for _ in stride(from: caller, to: calls, by: atOnce) {
            do {
              answers[try await server(metadata), default: 0] += 1
            } catch let status as GRPCStatus { answers[status.code.specName, default: 0] += 1 }
          }
          return answers
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
  }
}
