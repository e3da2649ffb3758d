import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText
import SwitchboardTransport

/// What a client of control planes takes from its surroundings, which tests replace.
struct XDSEnvironment: Sendable {
  var time: any CallTime = SystemTime()
  /// The options of the channels to control planes, apart from their security.
  var options = ChannelOptions()
  /// The loops of these channels. `nil`: one of their own.
  var group: LoopGroup?
  /// What reads the files of control planes' TLS again.
  var certificates: [XDSBootstrap.Server: FileCertificates] = [:]
  /// Where clients record metrics.
  var metrics: MetricScope?
  var reader = ResourceReader()
}

/// Asks the control planes of a bootstrap for resources, for all who share the client. It ends when it is released.
final class XDSClient: Sendable {
  let bootstrap: XDSBootstrap
  private let table: ServerTable
  private let discovery: Discovery

  init(_ bootstrap: XDSBootstrap, _ environment: XDSEnvironment = XDSEnvironment()) {
    self.bootstrap = bootstrap
    var environment = environment
    environment.reader = ResourceReader(
      policies: environment.reader.policies,
      certificateProviders: CertificateProviders.names(bootstrap.certificateProviders)
    )
    table = ServerTable(bootstrap)
    discovery = Discovery(table, bootstrap.node, environment)
  }

  deinit { discovery.end() }

  /// What is known of each resource, by type and name, for those who look on.
  var records: [(key: ResourceKey, record: ResourceRecord)] { discovery.records }

  /// Watches a resource until the watch is released. Throws if there is no control plane for it.
  func watch(
    _ key: ResourceKey,
    _ receiver: @escaping Discovery.Receiver
  ) throws(GRPCStatus) -> ResourceWatch {
    guard let authority = table.authority(of: key.name.text) else {
      throw GRPCStatus(code: .unavailable, message: "the xDS bootstrap has no control plane for the \(key)")
    }
    return try discovery.watch(key, of: authority, receiver)
  }

  /// The control plane that is asked for a resource now; `nil` if nobody is.
  func controlPlane(of key: ResourceKey) -> String? {
    table.authority(of: key.name.text).flatMap { discovery.controlPlane(of: $0) }
  }

  /// What reports calls to a control plane; `nil` if it was never asked.
  func reporter(_ server: ServerID) -> LoadReporter? { discovery.reporter(server) }
}

/// The clients of the process: channels with the same bootstrap, target, telemetry and policies share one.
final class XDSClientPool: Sendable {
  static let ofProcess = XDSClientPool()

  private struct Key: Hashable {
    let bootstrap: XDSBootstrap
    let target: ExactText
    let telemetry: ObjectIdentifier?
    /// What clusters may have besides the policies that all channels know.
    let policies: [OwnPolicy]
  }

  private struct OwnPolicy: Hashable {
    let name: ExactText
    let type: ObjectIdentifier

    init(_ policy: any LoadBalancingPolicy) {
      name = ExactText(policy.name)
      type = ObjectIdentifier(Swift.type(of: policy))
    }
  }

  private struct Member: Sendable {
    weak var client: XDSClient?
  }

  private let members = Locked<[Key: Member]>([:])

  init() {}

  /// The clients that there are, each with the target of its channels.
  var clients: [(target: String, client: XDSClient)] {
    let found = members.withLock { members in
      members.compactMap { key, member in member.client.map { (target: key.target.text, client: $0) } }
    }
    return found.sorted { $0.target.precedes($1.target) }
  }

  func client(
    _ bootstrap: XDSBootstrap,
    for target: String,
    _ environment: XDSEnvironment
  ) -> XDSClient {
    members.withLock { members in
      let telemetry = environment.metrics?.telemetry
      let key = Key(
        bootstrap: bootstrap,
        target: ExactText(target),
        telemetry: telemetry,
        policies: environment.reader.policies.own.map(OwnPolicy.init)
      )
      if let known = members[key]?.client { return known }
      members = members.filter { $0.value.client != nil }
      let made = XDSClient(bootstrap, environment)
      members[key] = Member(client: made)
      return made
    }
  }
}
