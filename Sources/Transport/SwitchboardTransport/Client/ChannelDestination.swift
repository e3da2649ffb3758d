import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// Where the calls of a channel go: what its target and its options say of names, security and proxies.
struct ChannelDestination {
  /// The target, as the program writes it.
  let text: String
  let target: Target
  /// Finds the servers.
  let resolver: any Resolver
  /// The resolver's name for the target: the default for `:authority`, and for logs.
  let serverName: String
  let authority: [UInt8]
  /// `nil` for plaintext.
  let tls: TLSContexts?
  /// The proxy of the addresses that the target leads to.
  let proxy: ProxyOption
  /// The settings of the environment.
  let proxies: ProxyEnvironment

  /// Throws `INVALID_ARGUMENT` if the target is invalid, or the options do not fit it.
  init(_ text: String, _ options: ChannelOptions, _ proxies: ProxyEnvironment) throws(GRPCStatus) {
    let resolvers: [any Resolver] =
      options.resolvers + [
        AddressResolver(),
        DNSResolver(findsServiceConfigs: options.looksUpServiceConfig, options.proxy, proxies),
      ]
    let target = try Target(text, schemes: Set(resolvers.flatMap(\.schemes)), fallback: "dns")
    guard let resolver = resolvers.first(where: { $0.schemes.contains(target.scheme) }) else {
      throw .badTarget(text, "no resolver is registered for the scheme \(target.scheme)")
    }
    let serverName = try resolver.serverName(of: target)
    self.text = text
    self.target = target
    self.resolver = resolver
    self.serverName = serverName
    self.proxies = proxies
    proxy = proxies.option(options.proxy, for: serverName)
    // A proxy that the program names is used for all targets, and lies between.
    let staysHere = [.environment, .none].contains(options.proxy) && target.isOnThisMachine
    tls = try options.security.tls(isOnThisMachine: staysHere).map {
      tls throws(GRPCStatus) in
      try TLSContexts(
        client: tls,
        serverName: HostAndPort(serverName)?.host ?? serverName,
        versions: options.httpVersions,
        logger: options.logger
      )
    }
    authority = try options.makeAuthority(serverName)
  }

  /// What to say where nothing listens, if the target names no port.
  var portHint: String? {
    guard ["dns", "passthrough"].contains(target.scheme), let parts = try? HostAndPort(in: target) else {
      return nil
    }
    guard parts.port == 443, HostAndPort(target.endpoint, defaultPort: 0)?.port == 0 else { return nil }
    return "the target has no port, and the default is 443, as in \(target.text):443"
  }

  /// The servers in messages: the name, unless it consists of addresses, and the first few addresses.
  func shown(_ addresses: [EndpointAddress]) -> String {
    let first = addresses.prefix(3).map(\.description).joined(separator: ", ")
    let list = addresses.count > 3 ? "\(first) and \(addresses.count - 3) more" : first
    let namesItself =
      addresses.contains { $0.description == serverName || $0.port == nil } || list == serverName
    return namesItself ? list : "\(serverName) (\(list))"
  }
}
