import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// The options that identify a channel of a pool: the client's options, completed by its `additionalChannelArgs`.
struct ChannelArguments: Hashable, Sendable {
  let channel: ChosenOptions<ChannelOptions>
  let pool: ChosenOptions<PoolOptions>
  let compression: MessageCompression

  /// Throws `INVALID_ARGUMENT` for an argument with a value of the wrong type.
  init(_ options: CallOptions) throws(GRPCStatus) {
    var channel = options.channelOptions
    var pool = options.poolOptions
    // In a fixed order, since two names may set the same option: `max_receive_message_length` comes first.
    for (name, value) in pool.options.additionalChannelArgs.sorted(by: { $0.key > $1.key }) {
      try channel.take(value, of: name)
      try pool.take(value, of: name)
      if name == "grpc.service_config" {
        let config = try ServiceConfig(json: try String(value, of: name))
        channel[\.serviceConfig] = channel[\.serviceConfig] ?? config
      }
    }
    self.channel = channel
    self.pool = pool
    compression = options.compression
  }
}

extension ChannelArguments {
  /// What has no effect among the arguments.
  var remarks: [String] {
    let known =
      ChannelOptions.arguments.map(\.name) + PoolOptions.arguments.map(\.name) + ["grpc.service_config"]
    return pool.options.additionalChannelArgs.keys.sorted().filter { !known.contains($0) }.map { name in
      "additionalChannelArgs has an argument without an effect: \(name.excerpt(100))"
        + (Self.hint(for: name, known).map { " (\($0))" } ?? "")
    }
  }

  private static func hint(for name: String, _ known: [String]) -> String? {
    if let option = otherOptions[name] { return option }
    let candidates = known + otherOptions.keys.sorted()
    return NearNames(of: name, in: candidates).best.map { "did you mean \($0)?" }
  }

  /// gRPC's arguments that have no effect here, and what has.
  private static let otherOptions = [
    "grpc.max_send_message_length":
      "a service config limits requests: maxRequestMessageBytes of a methodConfig",
    "grpc.lb_policy_name": "a service config names the policy: loadBalancingConfig",
    "grpc.default_compression_algorithm": "set compression",
    "grpc.client_idle_timeout_ms": "set idleTimeout",
    "grpc.http_proxy": "set proxy",
    "grpc.enable_http_proxy": "set proxy",
    "grpc.secondary_user_agent": "set userAgentPrefix",
    "grpc.use_local_subchannel_pool": "set channelID: channels that differ in it share no connections",
    "grpc.max_connection_idle_ms": "it is for servers: ServerOptions.maxConnectionIdle",
    "grpc.max_connection_age_ms": "it is for servers: ServerOptions.maxConnectionAge",
    "grpc.max_connection_age_grace_ms": "it is for servers: ServerOptions.connectionAgeGrace",
    "grpc.so_reuseport": "it is for servers: ServerOptions.reusePort",
  ]
}

extension ChannelOptions {
  /// The options of a pool's channel. Throws `INVALID_ARGUMENT` if options contradict each other.
  init(_ arguments: ChannelArguments) throws(GRPCStatus) {
    self = arguments.channel.options
    let pool = arguments.pool.options
    // A connection window smaller than a stream's would limit the stream.
    connectionWindow = max(connectionWindow, streamLookahead)
    if pool.hostNameOverride?.isEmpty == true {
      throw .invalidOption("hostNameOverride is empty: without a name, any certificate would be accepted")
    }
    authority = authority ?? pool.hostNameOverride
    security = try pool.secured(security)
  }
}

extension PoolOptions {
  /// `security`, changed by these options, each of which asks for TLS.
  fileprivate func secured(_ security: ChannelSecurity) throws(GRPCStatus) -> ChannelSecurity {
    let hasPEM = pemRootCert != nil || pemPrivateKey != nil || pemCertChain != nil
    if security == .plaintext, hasPEM {
      throw .invalidOption(
        "certificates and a key do not apply to a channel whose security is .plaintext: set security to .tls(), or leave "
          + "them out"
      )
    }
    guard hasPEM || hostNameOverride != nil, security != .plaintext else { return security }
    var tls = security.tls(isOnThisMachine: false) ?? ClientTLS()
    tls.serverNameOverride = hostNameOverride ?? tls.serverNameOverride
    if let pemRootCert { tls.trustRoots = .bytes(Array(pemRootCert.utf8)) }
    switch (pemCertChain, pemPrivateKey) {
    case (nil, nil): break
    case (let chain?, let key?):
      tls.credentials = TLSCredentials(
        certificateChain: .bytes(Array(chain.utf8)),
        privateKey: .bytes(Array(key.utf8))
      )
    default: throw .invalidOption("pemCertChain and pemPrivateKey must be set together")
    }
    return .tls(tls)
  }
}
