// text: a bootstrap is the program's own

public import SwitchboardCall

/// Where a mesh's control planes are, and who this client is to them: what a bootstrap file of gRPC says.
///
/// ```swift
/// let bootstrap = XDSBootstrap(
///   servers: [XDSBootstrap.Server("control.example:443", security: .tls())],
///   node: XDSBootstrap.Node(id: "greeter-7")
/// )
/// ```
public struct XDSBootstrap: Hashable, Sendable {
  /// The control planes, the preferred one first. Another one is used only if those before it cannot be asked while something is
  /// needed of which nothing is known, and only until one of them answers again (gRFC A71).
  public var servers: [Server]
  /// This client.
  public var node: Node
  /// Control planes for the names of other owners (gRFC A47), by the owner's name.
  public var authorities: [String: Authority] = [:]
  /// The name of the listener of an `xds:///` target, where `%s` stands for the target's name.
  public var listenerTemplate = "%s"
  /// Where certificates come from, by the names that a control plane uses (gRFC A29).
  var certificateProviders: [String: CertificateProviderConfig] = [:]
  /// What nobody reads of its JSON, and what was probably meant.
  var remarks: [String] = []

  /// A bootstrap in code.
  public init(servers: [Server], node: Node = Node()) {
    self.servers = servers
    self.node = node
  }

  /// Lets a control plane name a provider of certificates, which the program has. It takes the place of one of that name.
  public mutating func setCertificateProvider(_ provider: any CertificateProvider, named name: String) {
    certificateProviders[name] = .own(CertificateProviderConfig.Own(provider: provider))
  }

  /// A control plane.
  public struct Server: Hashable, Sendable {
    /// The target of the channel to it.
    public var target: String
    /// How that channel is secured. `automatic` means TLS, unless the control plane is on this machine.
    public var security: ChannelSecurity
    /// What is known of it.
    public var features: Set<Feature>
    /// A file with a JSON Web Token, which each stream sends (gRFC A97). Whoever renews the token replaces the file. It is not sent
    /// in plaintext: such a bootstrap is refused.
    public var tokenFile: String?
    /// How often the files of its TLS are read again (gRFC A65); `nil`: never.
    var fileInterval: Duration?

    /// A control plane at a target.
    public init(_ target: String, security: ChannelSecurity = .automatic, features: Set<Feature> = []) {
      self.target = target
      self.security = security
      self.features = features
    }
  }

  /// What is known of a control plane.
  public enum Feature: String, Hashable, Sendable, CaseIterable {
    /// It tells nobody when it sends what is wrong, so calls fail then, instead of going on by what was sent before (gRFC A88).
    case failOnDataErrors = "fail_on_data_errors"
    /// It says itself which resources there are not: that one is missing for long only means that it is slow (gRFC A88).
    case resourceTimerIsTransientError = "resource_timer_is_transient_error"
    /// It may have calls say the host of their server as `:authority` (gRFC A81).
    case trusted = "trusted_xds_server"
  }

  /// This client, as control planes see it.
  public struct Node: Hashable, Sendable {
    /// The client's own name.
    public var id: String
    /// The name of the group that it belongs to.
    public var cluster: String
    /// Where it is.
    public var region: String
    /// Where it is, within the region.
    public var zone: String
    /// Where it is, within the zone.
    public var subZone: String
    /// What else the control plane wants to know.
    public var metadata: [String: ConfigValue]

    /// A client.
    public init(
      id: String = "",
      cluster: String = "",
      region: String = "",
      zone: String = "",
      subZone: String = "",
      metadata: [String: ConfigValue] = [:]
    ) {
      self.id = id
      self.cluster = cluster
      self.region = region
      self.zone = zone
      self.subZone = subZone
      self.metadata = metadata
    }
  }

  /// The control planes of another owner.
  public struct Authority: Hashable, Sendable {
    /// The preferred one first. `nil` means those of the bootstrap.
    public var servers: [Server]?
    /// The name of the listener of an `xds://OWNER/` target, where `%s` stands for the target's name. `nil` means the usual one.
    public var listenerTemplate: String?
    /// Whether another control plane is used as soon as those before it cannot be asked, although all that is needed is known
    /// (gRFC A95). That is for resources which grow old, such as endpoints.
    public var fallsBackOnReachabilityOnly: Bool

    /// An owner's control planes.
    public init(
      servers: [Server]? = nil,
      listenerTemplate: String? = nil,
      fallsBackOnReachabilityOnly: Bool = false
    ) {
      self.servers = servers
      self.listenerTemplate = listenerTemplate
      self.fallsBackOnReachabilityOnly = fallsBackOnReachabilityOnly
    }
  }
}
