import SwitchboardBalancing
import SwitchboardCall

/// Looks names up in the DNS, for targets such as `dns:///greeter.example:443` and `dns://10.0.0.53/greeter.example:443`.
package struct DNSResolver: Resolver {
  package let schemes = ["dns"]
  /// Whether service configs are looked up too (gRFC A2).
  package let findsServiceConfigs: Bool
  private let proxy: ProxyOption
  private let environment: ProxyEnvironment

  package init(findsServiceConfigs: Bool, _ proxy: ProxyOption, _ environment: ProxyEnvironment) {
    self.findsServiceConfigs = findsServiceConfigs
    self.proxy = proxy
    self.environment = environment
  }

  package func serverName(of target: Target) throws(GRPCStatus) -> String {
    if !target.authority.isEmpty { _ = try NameAuthority.servers(target.authority) }
    let parts = try HostAndPort(in: target)
    _ = try ProxyRoute(to: [Self.address(parts)], proxy, environment)
    return target.endpoint
  }

  private static func address(_ parts: HostAndPort) -> EndpointAddress {
    EndpointAddress(ip: parts.host, port: parts.port) ?? .name(host: parts.host, port: parts.port)
  }

  package func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    guard let parts = HostAndPort(target.endpoint), let loop = updates.eventLoop as? Loop else {
      updates.report(ResolverResult(failure: .badHost(target.endpoint, in: target.text)))
      return FinishedResolution()
    }
    let address = Self.address(parts)
    let isProxied = (try? ProxyRoute(to: [address], proxy, environment))?.hasProxy ?? false
    // A proxy resolves names itself.
    if address.isIP || isProxied {
      updates.report(ResolverResult(endpoints: [Endpoint([address])]))
      return FinishedResolution()
    }
    do throws(GRPCStatus) {
      let names =
        target.authority.isEmpty ? loop.names : try NameClient(authority: target.authority, on: loop)
      return PolledResolution(updates) { completion in
        DNSLookup(names, parts, withConfig: findsServiceConfigs, completion)
      }
    } catch {
      updates.report(ResolverResult(failure: error))
      return FinishedResolution()
    }
  }
}

/// A lookup of a name's addresses and, if enabled, of its service config.
private final class DNSLookup: ScheduledAction {
  private let name: HostAndPort
  private let completion: (PolledResolution.Answer) -> Void
  private var queries: [NameQuery] = []
  private var addresses: Result<NameAnswer, GRPCStatus>?
  private var config: Result<ServiceConfig?, GRPCStatus>?

  init(
    _ names: NameClient,
    _ name: HostAndPort,
    withConfig: Bool,
    _ completion: @escaping (PolledResolution.Answer) -> Void
  ) {
    self.name = name
    self.completion = completion
    if !withConfig { config = .success(nil) }
    queries.append(
      names.addresses(of: name.host, port: Int(name.port)) { [weak self] result in
        self?.addresses = result
        self?.finishIfWhole()
      }
    )
    guard withConfig else { return }
    queries.append(
      names.texts(of: "_grpc_config.\(name.host)") { [weak self] result in
        // A name without such a record has no config. A failed lookup of the record must not make the name unusable.
        let texts = (try? result.get()) ?? []
        self?.config = Result { () throws(GRPCStatus) in
          try ServiceConfigChoice.choose(texts, hostname: ProcessHost.name, roll: Double.random(in: 0..<100))
        }
        self?.finishIfWhole()
      }
    )
  }

  func cancel() {
    for query in queries { query.cancel() }
    queries = []
  }

  private func finishIfWhole() {
    guard let addresses, let config else { return }
    queries = []
    switch addresses {
    case .failure(let status): completion(PolledResolution.Answer(ResolverResult(failure: status)))
    case .success(let answer):
      let endpoints = answer.addresses.compactMap { EndpointAddress($0) }.map { Endpoint([$0]) }
      completion(
        PolledResolution.Answer(
          ResolverResult(endpoints: endpoints, serviceConfig: config),
          timeToLive: answer.timeToLive
        )
      )
    }
  }
}
