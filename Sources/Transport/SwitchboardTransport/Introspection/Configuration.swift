import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// What a server was told, and what it has made of it.
package struct ServerConfiguration: Sendable {
  package let options: ServerOptions
  /// `nil` without TLS.
  package let tls: TLSFacts?
  /// The TLS options in use, which may have been reloaded.
  package let tlsOptions: ServerTLS?
}

extension Server {
  package var configuration: ServerConfiguration {
    let contexts = core.tlsContexts
    return ServerConfiguration(
      options: core.options,
      tls: contexts?.latest?.facts,
      tlsOptions: contexts?.serverOptions
    )
  }

  /// What the server, its handlers and interceptors log to. Its level is the server's own.
  package var logger: Logger { core.options.logger }
}

/// What a channel was told, and what it has made of it.
package struct ChannelConfiguration: Sendable {
  package let options: ChannelOptions
  /// `nil` without TLS.
  package let tls: TLSFacts?
  /// The proxy for the addresses of the target: that of the options, unless the environment excepts the target.
  package let proxy: ProxyOption
  /// The proxy that the environment names.
  package let proxyOfEnvironment: ProxyOption?
  /// The service config in use; `nil` if there is none.
  package let serviceConfig: ServiceConfig?
  /// Whether it is the resolver's.
  package let isConfigResolved: Bool
  /// Why the resolver's last service config that could not be used was refused, and when.
  package let refusedConfig: (reason: GRPCStatus, time: ContinuousClock.Instant)?
  /// The name of the policy in use.
  package let policy: String
}

extension Channel {
  /// `nil` for a channel without connections of its own.
  package func configuration() async -> ChannelConfiguration? {
    guard let transport = transport as? HTTP2ClientTransport else { return nil }
    return await transport.loop.find { transport.configuration }
  }

  /// What the channel and its connections log to. Its level is the channel's own. `nil` for a channel without connections of
  /// its own.
  package var connectionLogger: Logger? { (transport as? HTTP2ClientTransport)?.options.logger }
}

extension HTTP2ClientTransport {
  /// Call on the loop.
  fileprivate var configuration: ChannelConfiguration {
    ChannelConfiguration(
      options: options,
      tls: destination.tls?.latest?.facts,
      proxy: destination.proxy,
      proxyOfEnvironment: destination.proxies.named,
      serviceConfig: balancer.serviceConfig,
      isConfigResolved: balancer.foundConfigs.isUsed,
      refusedConfig: balancer.foundConfigs.refused,
      policy: balancer.policyName
    )
  }
}
