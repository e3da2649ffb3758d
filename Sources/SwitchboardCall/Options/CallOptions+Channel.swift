// What concerns the channel. The channels of a pool are told apart by all of it; a channel that the user made is not
// changed by it, but for the first three, which calls use too.
extension CallOptions {
  /// How request messages are compressed. Responses are as the server chooses, among what we announce.
  public var compression: MessageCompression {
    get { box?.choices.compression ?? .none }
    set { choose { $0.compression = newValue } }
  }

  /// The largest response message that is accepted, after decompression. `nil`: the channel's own limit.
  public var responseSizeLimit: Int? {
    get { box?.choices.responseSizeLimit }
    set { choose { $0.responseSizeLimit = newValue } }
  }

  /// Whether the call may be made again by the policies of the service config. It is unless this is `false`; a
  /// request that never reached a server is sent again in any case.
  public var enableRetry: Bool {
    get { box?.choices.enableRetry ?? true }
    set { choose { $0.enableRetry = newValue } }
  }

  /// Goes before our own name in `user-agent`.
  public var userAgentPrefix: String? {
    get { box?.choices.channel?.settings.userAgentPrefix }
    set { setChannel { $0.userAgentPrefix = newValue } }
  }

  /// How long the server may be silent before it is asked for a sign of life. `nil`: it is never asked.
  public var keepaliveInterval: Duration? {
    get { box?.choices.channel?.settings.keepaliveInterval }
    set { setChannel { $0.keepaliveInterval = newValue } }
  }

  /// How long the server may take to give that sign. `nil`: 20 seconds.
  public var keepaliveTimeout: Duration? {
    get { box?.choices.channel?.settings.keepaliveTimeout }
    set { setChannel { $0.keepaliveTimeout = newValue } }
  }

  /// How long one attempt to connect may take at the least. `nil`: 20 seconds.
  public var connectMinTimeout: Duration? {
    get { box?.choices.channel?.settings.connectMinTimeout }
    set { setChannel { $0.connectMinTimeout = newValue } }
  }

  /// How long to wait after the first failure to connect. `nil`: a second.
  public var connectInitialBackoff: Duration? {
    get { box?.choices.channel?.settings.connectInitialBackoff }
    set { setChannel { $0.connectInitialBackoff = newValue } }
  }

  /// What the wait after a failure to connect grows to. `nil`: two minutes.
  public var connectMaxBackoff: Duration? {
    get { box?.choices.channel?.settings.connectMaxBackoff }
    set { setChannel { $0.connectMaxBackoff = newValue } }
  }

  /// Channel arguments by gRPC's names for them, such as `grpc.max_receive_message_length`. An option of this value
  /// that says the same goes first. A name that is not known here tells channels apart and does nothing else.
  public var additionalChannelArgs: [String: ChannelArgument]? {
    get { box?.choices.channel?.settings.additionalChannelArgs }
    set { setChannel { $0.additionalChannelArgs = newValue } }
  }

  /// Who may vouch for the server, in PEM. `nil`: the system's roots.
  public var pemRootCert: String? {
    get { box?.choices.channel?.settings.pemRootCert }
    set { setChannel { $0.pemRootCert = newValue } }
  }

  /// The key of `pemCertChain`, in PEM; both or none.
  public var pemPrivateKey: String? {
    get { box?.choices.channel?.settings.pemPrivateKey }
    set { setChannel { $0.pemPrivateKey = newValue } }
  }

  /// What to show a server that asks for a certificate, in PEM: the certificate first, then those that vouch for it.
  public var pemCertChain: String? {
    get { box?.choices.channel?.settings.pemCertChain }
    set { setChannel { $0.pemCertChain = newValue } }
  }

  /// How connections are secured; by TLS unless this says otherwise.
  public var transportType: TransportType {
    get { box?.choices.channel?.settings.transportType ?? .secure }
    set { setChannel { $0.transportType = newValue } }
  }

  /// The name that the server's certificate must carry, and the `:authority` of calls, where it is not the host's.
  public var hostNameOverride: String? {
    get { box?.choices.channel?.settings.hostNameOverride }
    set { setChannel { $0.hostNameOverride = newValue } }
  }

  /// Added to every log entry of the call and of its connections.
  public var logContext: [String: String]? {
    get { box?.choices.channel?.settings.logContext }
    set { setChannel { $0.logContext = newValue } }
  }

  /// Channels of different domains are never shared: name one for a library, so that it keeps to itself.
  public var channelPoolDomain: String? {
    get { box?.choices.channel?.settings.channelPoolDomain }
    set { setChannel { $0.channelPoolDomain = newValue } }
  }

  /// Channels of different numbers are never shared: for several connections to one host.
  public var channelID: Int {
    get { box?.choices.channel?.settings.channelID ?? 0 }
    set { setChannel { $0.channelID = newValue } }
  }

  /// The largest block of response headers that is accepted, in bytes as HTTP/2 counts them. `nil`: 16 KiB.
  public var maxMetadataSize: Int? {
    get { box?.choices.channel?.settings.maxMetadataSize }
    set { setChannel { $0.maxMetadataSize = newValue } }
  }

  /// The most memory that the compression of request headers uses for each connection. `nil`: 4 KiB.
  public var hpackTableSizeEncoder: Int? {
    get { box?.choices.channel?.settings.hpackTableSizeEncoder }
    set { setChannel { $0.hpackTableSizeEncoder = newValue } }
  }

  /// The same for the decompression of response headers; the server is told. `nil`: 4 KiB.
  public var hpackTableSizeDecoder: Int? {
    get { box?.choices.channel?.settings.hpackTableSizeDecoder }
    set { setChannel { $0.hpackTableSizeDecoder = newValue } }
  }

  /// The most calls at a time on one connection, where the server allows as many. Further calls go on other
  /// connections, or wait. `nil`: as the server says.
  public var maxConcurrentStreams: Int? {
    get { box?.choices.channel?.settings.maxConcurrentStreams }
    set { setChannel { $0.maxConcurrentStreams = newValue } }
  }

  /// How many bytes a server may send on one call before it must wait for us. `nil`: a mebibyte.
  public var streamLookahead: Int? {
    get { box?.choices.channel?.settings.streamLookahead }
    set { setChannel { $0.streamLookahead = newValue } }
  }

  /// How many bytes of one call's requests are kept to make it again; beyond that the call is as it would be without
  /// retries. `nil`: 256 KiB.
  public var retryBufferSize: Int? {
    get { box?.choices.channel?.settings.retryBufferSize }
    set { setChannel { $0.retryBufferSize = newValue } }
  }

  /// What is configured per method: timeouts, limits, retries. It takes the place of the channel's own, also where the
  /// user made the channel.
  public var serviceConfig: ServiceConfig? {
    get { box?.choices.channel?.settings.serviceConfig }
    set { setChannel { $0.serviceConfig = newValue } }
  }

  private mutating func setChannel(_ change: (inout ChannelSettings) -> Void) {
    var settings = channelSettings
    change(&settings)
    choose { $0.channel = ChannelChoices(settings) }
  }
}
