import SwitchboardBalancing
import SwitchboardCall

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
    tls = try pool.secured(tls)
  }
}

extension PoolOptions {
  /// `tls`, changed by these options.
  fileprivate func secured(_ tls: ClientTLS?) throws(GRPCStatus) -> ClientTLS? {
    let hasPEM = pemRootCert != nil || pemPrivateKey != nil || pemCertChain != nil
    if transportType == .insecure {
      guard !hasPEM, tls == nil else {
        throw .invalidOption("certificates and a key do not apply to an insecure transport")
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
    default: throw .invalidOption("pemCertChain and pemPrivateKey must be set together")
    }
    return tls
  }
}
