/// What a channel is made with, as far as it was chosen: all of it tells channels of a pool apart.
package struct ChannelSettings: Hashable, Sendable {
  package var userAgentPrefix: String?
  package var keepaliveInterval: Duration?
  package var keepaliveTimeout: Duration?
  package var connectMinTimeout: Duration?
  package var connectInitialBackoff: Duration?
  package var connectMaxBackoff: Duration?
  package var additionalChannelArgs: [String: ChannelArgument]?
  package var pemRootCert: String?
  package var pemPrivateKey: String?
  package var pemCertChain: String?
  package var transportType: TransportType?
  package var hostNameOverride: String?
  package var logContext: [String: String]?
  package var channelPoolDomain: String?
  package var channelID: Int?

  package var maxMetadataSize: Int?
  package var hpackTableSizeEncoder: Int?
  package var hpackTableSizeDecoder: Int?
  package var maxConcurrentStreams: Int?
  package var streamLookahead: Int?
  package var retryBufferSize: Int?
  package var serviceConfig: ServiceConfig?

  package init() {}

  func overriding(_ defaults: ChannelSettings) -> ChannelSettings {
    var merged = self
    merged.userAgentPrefix = userAgentPrefix ?? defaults.userAgentPrefix
    merged.keepaliveInterval = keepaliveInterval ?? defaults.keepaliveInterval
    merged.keepaliveTimeout = keepaliveTimeout ?? defaults.keepaliveTimeout
    merged.connectMinTimeout = connectMinTimeout ?? defaults.connectMinTimeout
    merged.connectInitialBackoff = connectInitialBackoff ?? defaults.connectInitialBackoff
    merged.connectMaxBackoff = connectMaxBackoff ?? defaults.connectMaxBackoff
    merged.additionalChannelArgs = additionalChannelArgs ?? defaults.additionalChannelArgs
    merged.pemRootCert = pemRootCert ?? defaults.pemRootCert
    merged.pemPrivateKey = pemPrivateKey ?? defaults.pemPrivateKey
    merged.pemCertChain = pemCertChain ?? defaults.pemCertChain
    merged.transportType = transportType ?? defaults.transportType
    merged.hostNameOverride = hostNameOverride ?? defaults.hostNameOverride
    merged.logContext = logContext ?? defaults.logContext
    merged.channelPoolDomain = channelPoolDomain ?? defaults.channelPoolDomain
    merged.channelID = channelID ?? defaults.channelID
    merged.maxMetadataSize = maxMetadataSize ?? defaults.maxMetadataSize
    merged.hpackTableSizeEncoder = hpackTableSizeEncoder ?? defaults.hpackTableSizeEncoder
    merged.hpackTableSizeDecoder = hpackTableSizeDecoder ?? defaults.hpackTableSizeDecoder
    merged.maxConcurrentStreams = maxConcurrentStreams ?? defaults.maxConcurrentStreams
    merged.streamLookahead = streamLookahead ?? defaults.streamLookahead
    merged.retryBufferSize = retryBufferSize ?? defaults.retryBufferSize
    merged.serviceConfig = serviceConfig ?? defaults.serviceConfig
    return merged
  }
}

/// The settings behind a reference, so that options of one client compare in one step.
final class ChannelChoices: Sendable {
  let settings: ChannelSettings

  init(_ settings: ChannelSettings) {
    self.settings = settings
  }

  func overriding(_ defaults: ChannelChoices) -> ChannelChoices {
    self === defaults ? self : ChannelChoices(settings.overriding(defaults.settings))
  }
}

extension CallOptions {
  /// What of the channel was chosen, apart from what calls use too.
  package var channelSettings: ChannelSettings { box?.choices.channel?.settings ?? ChannelSettings() }

  /// Whether a channel made for `other` is the one for these options too, as far as that can be told at once.
  package func clearlySharesChannel(with other: CallOptions) -> Bool {
    if box === other.box { return true }
    return box?.choices.channel === other.box?.choices.channel
      && compression == other.compression && responseSizeLimit == other.responseSizeLimit
      && enableRetry == other.enableRetry
  }
}
