import SwitchboardCall

/// The options of a channel for resolving names and balancing.
package struct BalancingOptions: Sendable {
  package var resolvers: [any Resolver] = []
  package var policies: [any LoadBalancingPolicy] = []
  package var pace = ResolutionPace()
  package var looksUpServiceConfig = false

  package init() {}
}

extension ChannelOptions {
  package var balancing: BalancingOptions {
    get { extensions[BalancingOptions.self] ?? BalancingOptions() }
    set { extensions[BalancingOptions.self] = newValue }
  }

  /// Additional resolvers. They take precedence over Switchboard's own for the same schemes.
  public var resolvers: [any Resolver] {
    get { balancing.resolvers }
    set { balancing.resolvers = newValue }
  }

  /// Additional policies, which replace Switchboard's own of the same names. Service configs and `loadBalancing` choose
  /// them by name.
  public var loadBalancingPolicies: [any LoadBalancingPolicy] {
    get { balancing.policies }
    set { balancing.policies = newValue }
  }

  /// Whether the service config of a `dns:` target is looked up too, in its TXT record (gRFC A2). The owner of the DNS
  /// records then controls timeouts, retries and balancing, and the first call waits for the lookup.
  public var looksUpServiceConfig: Bool {
    get { balancing.looksUpServiceConfig }
    set { balancing.looksUpServiceConfig = newValue }
  }

  /// How often names are looked up.
  public var resolutionPace: ResolutionPace {
    get { balancing.pace }
    set { balancing.pace = newValue }
  }
}
