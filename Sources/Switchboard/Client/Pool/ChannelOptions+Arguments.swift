extension ChannelOptions {
  /// The options of a pool's channel. Throws `INVALID_ARGUMENT` for options that contradict each other.
  init(_ arguments: ChannelArguments) throws(GRPCStatus) {
    self.init()
    let settings = arguments.settings
    initialBackoff = settings.connectInitialBackoff ?? initialBackoff
    maximumBackoff = settings.connectMaxBackoff ?? maximumBackoff
    minimumConnectTimeout = settings.connectMinTimeout ?? minimumConnectTimeout
    keepaliveInterval = settings.keepaliveInterval
    keepaliveTimeout = settings.keepaliveTimeout ?? keepaliveTimeout
    keepaliveWithoutCalls = arguments.keepaliveWithoutCalls
    userAgentPrefix = settings.userAgentPrefix
    maxResponseSize = arguments.responseSizeLimit ?? maxResponseSize
    maxHeaderListSize = settings.maxMetadataSize ?? maxHeaderListSize
    hpackTableSizeEncoder = settings.hpackTableSizeEncoder
    hpackTableSizeDecoder = settings.hpackTableSizeDecoder
    maxConcurrentStreams = settings.maxConcurrentStreams
    if let lookahead = settings.streamLookahead {
      streamWindow = lookahead
      // A window of the connection below that of a stream would be the one that counts.
      connectionWindow = max(connectionWindow, lookahead)
    }
    retryBufferSize = settings.retryBufferSize ?? retryBufferSize
    if settings.hostNameOverride?.isEmpty == true {
      throw .contradiction("hostNameOverride is empty: without a name any certificate would do")
    }
    authority = arguments.authority ?? settings.hostNameOverride
    tls = try Self.tls(settings)
  }

  private static func tls(_ settings: ChannelSettings) throws(GRPCStatus) -> ClientTLS? {
    let hasPEM =
      settings.pemRootCert != nil || settings.pemPrivateKey != nil || settings.pemCertChain != nil
    if settings.transportType == .insecure {
      guard !hasPEM else { throw .contradiction("certificates or a key are given for an insecure transport") }
      return nil
    }
    var tls = ClientTLS(serverNameOverride: settings.hostNameOverride)
    tls.trustRoots = settings.pemRootCert.map { .bytes(Array($0.utf8)) }
    switch (settings.pemCertChain, settings.pemPrivateKey) {
    case (nil, nil): break
    case (let chain?, let key?):
      tls.credentials = TLSCredentials(
        certificateChain: .bytes(Array(chain.utf8)),
        privateKey: .bytes(Array(key.utf8))
      )
    default: throw .contradiction("of pemCertChain and pemPrivateKey only one is given")
    }
    return tls
  }
}

extension GRPCStatus {
  static func contradiction(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "call options: \(reason)")
  }
}
