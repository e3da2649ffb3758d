/// The options that a channel of a pool is made with: those of a client, with what its `additionalChannelArgs` say where no
/// option does. They tell channels apart.
struct ChannelArguments: Hashable, Sendable {
  let channel: ChosenOptions<ChannelOptions>
  let pool: ChosenOptions<PoolOptions>
  let compression: MessageCompression

  /// Throws `INVALID_ARGUMENT` for an argument whose value is not of its kind.
  init(_ options: CallOptions) throws(GRPCStatus) {
    var channel = options.channelOptions
    var pool = options.poolOptions
    // In an order of their own, since two names may say the same: `max_receive_message_length` goes first.
    for (name, value) in pool.options.additionalChannelArgs.sorted(by: { $0.key > $1.key }) {
      try channel.take(value, named: name)
      try pool.take(value, named: name)
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

extension ChannelOptions {
  /// The options of a pool's channel. Throws `INVALID_ARGUMENT` for options that contradict each other.
  init(_ arguments: ChannelArguments) throws(GRPCStatus) {
    self = arguments.channel.options
    let pool = arguments.pool.options
    // A window of the connection below that of a stream would be the one that counts.
    connectionWindow = max(connectionWindow, streamLookahead)
    if pool.hostNameOverride?.isEmpty == true {
      throw .invalidOption("hostNameOverride is empty: without a name any certificate would do")
    }
    authority = authority ?? pool.hostNameOverride
    tls = try pool.secured(tls)
  }
}

extension PoolOptions {
  /// `tls` with what these options say.
  fileprivate func secured(_ tls: ClientTLS?) throws(GRPCStatus) -> ClientTLS? {
    let hasPEM = pemRootCert != nil || pemPrivateKey != nil || pemCertChain != nil
    if transportType == .insecure {
      guard !hasPEM, tls == nil else {
        throw .invalidOption("certificates or a key are given for an insecure transport")
      }
      return nil
    }
    var tls = tls ?? ClientTLS()
    tls.serverNameOverride = hostNameOverride ?? tls.serverNameOverride
    if let pemRootCert { tls.trustRoots = .bytes(Array(pemRootCert.utf8)) }
    switch (pemCertChain, pemPrivateKey) {
    case (nil, nil): break
    case (let chain?, let key?):
      tls.credentials = TLSCredentials(
        certificateChain: .bytes(Array(chain.utf8)),
        privateKey: .bytes(Array(key.utf8))
      )
    default: throw .invalidOption("of pemCertChain and pemPrivateKey only one is given")
    }
    return tls
  }
}
