public import SwitchboardBalancing
public import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText
import SwitchboardTransport

/// Targets whose servers and routes a control plane knows: `xds:///NAME`, or `xds://OWNER/NAME` for those of another owner.
///
/// ```swift
/// var options = ChannelOptions()
/// options.resolvers = [XDSResolver()]
/// options.security = .plaintext
/// let channel = try Channel(target: "xds:///greeter.example", options: options)
/// ```
///
/// Channels with the same bootstrap, target, telemetry and policies of their own share a client of the control plane, which ends with
/// the last of them.
public struct XDSResolver: Resolver {
  public let schemes = ["xds"]

  private let bootstrap: KnownBootstrap
  private let logger: Logger?
  private let usesClusterSecurity: Bool
  /// Looks up the names that clusters have instead of servers. Channels decide themselves about proxies to what is found.
  var names: any Resolver = DNSResolver(findsServiceConfigs: false, .none, .ofProcess)

  /// Without a bootstrap, that of the environment is used: `XDSBootstrap.ofEnvironment()`. What happens between the client and
  /// the control plane is logged to `logger`; by default, as channels log.
  ///
  /// With `usesClusterSecurity`, the control plane says how connections to the servers of a cluster are secured, by the certificate
  /// providers of the bootstrap. Where it says nothing, and for all clusters otherwise, that is the channel's own `security`.
  public init(
    bootstrap: XDSBootstrap? = nil,
    usesClusterSecurity: Bool = false,
    logger: Logger? = nil
  ) {
    self.bootstrap = KnownBootstrap(bootstrap)
    self.usesClusterSecurity = usesClusterSecurity
    self.logger = logger
  }

  /// The name in the target. Throws `INVALID_ARGUMENT` if there is no bootstrap, or it is invalid.
  public func serverName(of target: Target) throws(GRPCStatus) -> String {
    guard !target.endpoint.isEmpty else { throw .badTarget(target.text, "it has no name") }
    _ = try bootstrap.get(usedLogger).bootstrap.listenerName(for: target.endpoint, of: target.authority)
    if usesClusterSecurity { try bootstrap.certificates(usedLogger).prepare() }
    return target.endpoint
  }

  public func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    do throws(GRPCStatus) {
      let (settings, certificates) = try bootstrap.get(usedLogger)
      let listener = try settings.listenerName(for: target.endpoint, of: target.authority)
      var environment = environment(updates)
      environment.certificates = certificates
      let client = XDSClientPool.ofProcess.client(settings, for: target.text, environment)
      let tree = DependencyTree(
        listener: listener,
        authority: target.endpoint,
        node: settings.node.id,
        usesClusterSecurity: usesClusterSecurity
      )
      let logger = usedLogger.adding(["target": target.text])
      let contexts =
        usesClusterSecurity
        ? ClusterContexts(providers: try bootstrap.certificates(logger), logger: logger) : nil
      let resolution = MeshResolution(client, tree, contexts, names: names, updates, logger)
      resolution.refresh()
      return resolution
    } catch {
      updates.report(ResolverResult(failure: error))
      return TaskResolution(Task {})
    }
  }

  private var usedLogger: Logger { logger ?? ChannelOptions().logger }

  private func environment(_ updates: ResolverUpdates) -> XDSEnvironment {
    var environment = XDSEnvironment()
    environment.metrics = updates.metrics
    environment.options.logger = usedLogger
    environment.reader = ResourceReader(policies: updates.policies)
    return environment
  }
}

extension XDSResolver: RoutingResolver {}

/// A bootstrap that is given, or that of the environment, and its certificate providers: read when a channel is made, and not again
/// on its loop.
private final class KnownBootstrap: Sendable {
  /// With what reads the files of control planes' TLS.
  typealias Checked = (bootstrap: XDSBootstrap, certificates: [XDSBootstrap.Server: FileCertificates])

  private let given: XDSBootstrap?
  private let checked = Locked<Checked?>(nil)
  private let providers = Locked<CertificateProviders?>(nil)

  init(_ given: XDSBootstrap?) { self.given = given }

  /// Those of all channels of the resolver.
  func certificates(_ logger: Logger) throws(GRPCStatus) -> CertificateProviders {
    let configs = try get(logger).bootstrap.certificateProviders
    return providers.withLock { providers in
      if let providers { return providers }
      let made = CertificateProviders(configs, logger)
      providers = made
      return made
    }
  }

  func get(_ logger: Logger) throws(GRPCStatus) -> Checked {
    if let known = checked.withLock({ $0 }) { return known }
    let bootstrap = if let given { given } else { try XDSBootstrap.ofEnvironment() }
    let found = (bootstrap, try bootstrap.check(logger))
    let isFirst = checked.withLock { checked in
      defer { checked = found }
      return checked == nil
    }
    if isFirst {
      for remark in bootstrap.remarks { logger.log(.warning, "xDS bootstrap: \(remark)") }
    }
    return found
  }
}
