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
      let near = NearNames(of: name, in: known).best.map { " (did you mean \($0)?)" } ?? ""
      return "additionalChannelArgs has an argument without an effect: \(name.excerpt(100))\(near)"
    }
  }
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
