import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText

/// What a client of control planes takes from its surroundings, which tests replace.
struct XDSEnvironment: Sendable {
  var time: any CallTime = SystemTime()
  /// The options of the channels to control planes, apart from their security.
  var options = ChannelOptions()
  /// The loops of these channels. `nil`: one of their own.
  var group: LoopGroup?
  /// Where clients record metrics.
  var metrics: MetricScope?
  var reader = ResourceReader()
}

/// Asks the control planes of a bootstrap for resources, for all who share the client. It ends when it is released.
final class XDSClient: Sendable {
  let bootstrap: XDSBootstrap
  private let environment: XDSEnvironment
  private let planes = Locked<[XDSBootstrap.Server: ControlPlane]>([:])

  init(_ bootstrap: XDSBootstrap, _ environment: XDSEnvironment = XDSEnvironment()) {
    self.bootstrap = bootstrap
    var environment = environment
    environment.reader = ResourceReader(
      policies: environment.reader.policies,
      certificateProviders: CertificateProviders.names(bootstrap.certificateProviders)
    )
    self.environment = environment
  }

  deinit { for plane in planes.withLock({ $0.values }) { plane.end() } }

  /// What is known of each resource, for those who look on.
  var records: [(key: ResourceKey, record: ResourceRecord)] {
    let planes = planes.withLock { $0.values.map { $0 } }
    return planes.flatMap { $0.records }
  }

  /// Watches a resource until the watch is released. Throws if there is no control plane for it.
  func watch(
    _ key: ResourceKey,
    _ receiver: @escaping ControlPlane.Receiver
  ) throws(GRPCStatus) -> ResourceWatch {
    guard let server = bootstrap.servers(for: key.name.text)?.first else {
      throw GRPCStatus(code: .unavailable, message: "the xDS bootstrap has no control plane for the \(key)")
    }
    let plane: Result<ControlPlane, GRPCStatus> = planes.withLock { planes in
      if let known = planes[server] { return .success(known) }
      do throws(GRPCStatus) {
        let made = try ControlPlane(server, bootstrap.node, environment)
        planes[server] = made
        return .success(made)
      } catch { return .failure(error) }
    }
    return try plane.get().watch(key, receiver)
  }

  /// What reports the calls of a cluster to the control plane that it came from; `nil` if that is none.
  func reporter(of cluster: String) -> LoadReporter? {
    bootstrap.servers(for: cluster)?.first.flatMap { server in planes.withLock { $0[server]?.reporter } }
  }
}

/// The clients of the process: channels with the same bootstrap, target and telemetry share one.
final class XDSClientPool: Sendable {
  static let ofProcess = XDSClientPool()

  private struct Key: Hashable {
    let bootstrap: XDSBootstrap
    let target: ExactText
    let telemetry: ObjectIdentifier?
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
      let key = Key(bootstrap: bootstrap, target: ExactText(target), telemetry: telemetry)
      if let known = members[key]?.client { return known }
      members = members.filter { $0.value.client != nil }
      let made = XDSClient(bootstrap, environment)
      members[key] = Member(client: made)
      return made
    }
  }
}
