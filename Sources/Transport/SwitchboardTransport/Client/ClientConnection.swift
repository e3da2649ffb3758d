// unsafe: state confined to the connection's loop

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText

/// A connection of a channel.
final class ClientConnection: ConnectionParts, HTTP1ClientConnection {
  // Unchecked exclusivity: confined to the loop.
  private let subchannel: HTTP2Subchannel
  private var channel: HTTP2ClientTransport { subchannel.channel }
  /// The one of the subchannel's addresses that it leads to. `nil` if other code connected the socket.
  private let address: EndpointAddress?
  /// The number of the connection in its channel.
  let number: Int
  @exclusivity(unchecked) private(set) var http1: HTTP1ClientSession<ClientConnection>?
  @exclusivity(unchecked) private(set) var isReady = false
  /// Whether no new calls may be opened here, because the peer or the channel has said so.
  @exclusivity(unchecked) private(set) var isRetired = false
  /// Whether the channel no longer used the connection when it closed.
  @exclusivity(unchecked) private var wasGivenUp = false
  /// Whether a call was answered on this connection.
  @exclusivity(unchecked) private var hasServed = false
  @exclusivity(unchecked) private var readySince: UInt64 = 0
  /// Whether the server has sent `too_many_pings`. Only the first one counts, because the connection's ping interval
  /// does not change.
  @exclusivity(unchecked) private var sentTooManyPings = false
  /// The server's GOAWAY frame, if it has sent one.
  @exclusivity(unchecked) private var goAway: GoAway?

  @exclusivity(unchecked) private var keepalive: Keepalive?
  /// The host that the server's certificate was found to name when a call needed it.
  @exclusivity(unchecked) private var namedHost: [UInt8]?

  /// Without a context it is plaintext. `name` is what the server's TLS is asked for instead of the context's. `nil` if there is no
  /// memory.
  init?(
    _ subchannel: HTTP2Subchannel,
    _ context: TLSContext?,
    _ name: ServerName?,
    socket: Socket,
    address: EndpointAddress?
  ) {
    self.subchannel = subchannel
    self.address = address
    let channel = subchannel.channel
    number = channel.nextNumber()
    keepalive = channel.keepaliveInterval.map {
      Keepalive(interval: $0, timeout: channel.options.keepaliveTimeout)
    }
    var tls: TLSFilter?
    if let context {
      tls = TLSFilter(context, name: name, arenas: channel.loop.blocks.arenasOfTLS)
      guard tls != nil else { return nil }
    }
    super.init(
      loop: channel.loop,
      socket: socket,
      tls: tls,
      unreadLimit: channel.options.connectionBufferSize,
      frameAllowance: channel.options.controlFrameAllowance
    )
    if keepalive != nil { socket.setUserTimeout(channel.options.keepaliveTimeout) }
  }

  func process(_ streams: inout [StreamEntry]) -> Int {
    var count = 0
    // The calls of a closed connection end with it.
    while count < streams.count, !loop.hasWorkedEnough || isClosed {
      Unmanaged.passUnretained(streams[count]).withStream { $0.processReady() }
      count += 1
    }
    return count
  }

  /// Determines the version of HTTP. Unlike a server, a client does not pass the peer's identity to its calls.
  func didBecomeSecure() {
    if let report = channel.options.onConnectionPhase, let security = tls?.security {
      report(.secured(cipherSuite: security.cipherSuite))
    }
    speak(channel.options.httpVersion == .http1 || tls.map { $0.version != .http2 } == true ? .http1 : .http2)
  }

  func speak(_ version: SpokenVersion) {
    switch version {
    case .http2: speakHTTP2(as: .client, channel.sessionSettings)
    case .http1:
      let session = HTTP1ClientSession(self, headLimit: channel.options.maxMetadataSize)
      http1 = session
      session.join(loop.sweep)
      becomeReady()
    }
  }

  /// How many connections like this one the server may get; `nil` while it speaks nothing yet.
  var connectionLimit: Int? { withClientSession { type(of: $0).connectionLimit(channel.options) } }

  var isLowLatency: Bool { channel.options.lowLatency }

  var hasRoom: Bool {
    isReady && !isRetired && !isClosed && openStreams < streamLimit
  }

  /// Whether the connection's address is in the list.
  func isServing(_ addresses: [EndpointAddress]) -> Bool { address.map(addresses.contains) ?? true }

  /// The bare address of its server; `nil` if it is not known.
  var serverAddress: String? { address?.bare.description }

  /// The host of its server, for `:authority`; `nil` if it is not known. Throws if the server's certificate names others.
  func serverHost() throws(GRPCStatus) -> [UInt8]? {
    guard let address, let host = subchannel.options.hosts?.host(of: address) else { return nil }
    guard let tls, namedHost != host else { return host }
    let text = String(decoding: host, as: UTF8.self)
    guard tls.names(host: HostAndPort(text)?.host ?? text) else { throw .isAnother(than: text) }
    namedHost = host
    return host
  }

  private var streamLimit: Int {
    min(channel.options.maxConcurrentStreams ?? .max, withClientSession { $0.requestLimit } ?? 0)
  }

  /// The first settings make the connection usable. A peer that sends none may not speak HTTP/2.
  func sessionDidReceiveSettings() {
    guard !isReady else { return subchannel.connectionHasRoom() }
    if let interval = channel.keepaliveInterval { watchKeepalive(after: interval) }
    becomeReady()
  }

  private func becomeReady() {
    isReady = true
    readySince = loop.now
    channel.options.onConnectionPhase?(.ready)
    channel.options.observer?.connectionOpened(subchannel.observed)
    channel.options.logger.log(.debug, "connection opened", ["target": channel.destination.serverName])
    subchannel.connectionBecameReady(self)
  }

  func report(_ abuse: PeerAbuse) {
    counters.peerAbused(abuse)
    channel.options.observer?.peerAbused(abuse, subchannel.observed)
    channel.options.logger.log(
      .info,
      "a server misbehaves",
      ["target": channel.destination.serverName, "how": abuse.rawValue]
    )
  }

  func sessionDidReceiveGoAway(_ goAway: GoAway) {
    self.goAway = goAway
    if goAway.code == HTTP2Error.enhanceYourCalm.rawValue, goAway.reason.isExactly("too_many_pings"),
      !sentTooManyPings
    {
      sentTooManyPings = true
      channel.doubleKeepaliveInterval()
    }
    retire(goAway.code == HTTP2Error.noError.rawValue ? nil : status(of: goAway))
  }

  private func status(of goAway: GoAway) -> GRPCStatus {
    let needsTLS = tls == nil && goAway.code == HTTP2Error.inadequateSecurity.rawValue
    return needsTLS ? explained(goAway.status) : goAway.status
  }

  /// Does nothing: a server may ping as often as it likes.
  func sessionDidReceivePing() {}

  /// A server opens no streams: the settings of this side forbid it.
  func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)? { nil }

  /// The time limit for the headers of a response.
  var headersTimeout: Duration { .seconds(20) }

  /// A server that has ended its side answers no more.
  func peerDidEnd() -> Bool { false }

  // MARK: Requests to the session

  /// Tells the server to stop. Returns a status if only the end of the connection can, which is left to the caller.
  func cancelStream(_ id: Int32) -> GRPCStatus? {
    if let status = withClientSession({ $0.cancelRequest(id) }) ?? nil { return status }
    setNeedsFlush()
    return nil
  }

  /// Whether a call was answered here, or the connection was at least usable for longer than a new attempt would have
  /// to wait.
  var wasUseful: Bool {
    hasServed || isReady && loop.now - readySince >= channel.options.connectInitialBackoff.nanoseconds
  }

  /// Called when a call was answered.
  func didServe() {
    guard !hasServed else { return }
    hasServed = true
    subchannel.connectionServed()
  }

  func mismatch(_ protocol: PeerProtocol) -> GRPCStatus? {
    switch (`protocol`, tls == nil) {
    case (.tls, true): explained(.serverSpeaksTLS)
    case (.http1, true): channel.options.httpVersion == .http1 ? nil : .peerSpeaksHTTP1
    case (.http2Settings, true): channel.options.httpVersion == .http1 ? .serverSpeaksHTTP2 : nil
    case (.tls, false), (_, true): nil
    case (_, false): explained(.serverSpeaksNoTLS)
    }
  }

  private func explained(_ status: GRPCStatus) -> GRPCStatus {
    status.explained(by: channel.options, usesTLS: tls != nil)
  }

  func explanation(of reason: GRPCStatus) -> GRPCStatus {
    // The first frame has to be the server's settings.
    if !isReady, reason == .ended(for: HTTP2Error.protocolError.rawValue) { return .peerSpeaksNoHTTP2 }
    guard reason == .connectionLost else { return reason }
    if let goAway { return goAway.code == HTTP2Error.noError.rawValue ? .serverEnded : status(of: goAway) }
    return isReady || tls != nil ? reason : explained(.neverSpokeHTTP2)
  }

  /// Called before the connection's calls look for another one, because the channel must not offer this one again.
  func willClose(_ reason: GRPCStatus) {
    wasGivenUp = isRetired || subchannel.isShutDown
    guard isReady, !isRetired else { return }
    isRetired = true
    subchannel.connectionWasRetired(self, http2?.end.errorSent.map { _ in reason })
  }

  /// Why a usable connection ended, as gRFC A94 names it: the first of several reasons.
  private func disconnectError(_ reason: GRPCStatus) -> String {
    if let goAway { return "GOAWAY \(HTTP2Error.name(goAway.code))" }
    if wasGivenUp { return "subchannel shutdown" }
    if reason == .keepaliveTimeout { return "connection timed out" }
    return socketError?.label ?? "unknown"
  }

  func didClose(_ reason: GRPCStatus) {
    isRetired = true
    if isReady, let observer = channel.options.observer {
      var observed = subchannel.observed
      observed.labels[MetricLabel.disconnectError] = disconnectError(reason)
      observer.connectionClosed(observed, reason)
    }
    channel.options.logger.log(
      .debug,
      "connection closed",
      ["target": channel.destination.serverName, "reason": "\(reason)"]
    )
    subchannel.connectionDidClose(self, reason)
  }

  func checkSilence() -> Keepalive.Action? {
    let isIdle = openStreams == 0 && !channel.options.keepaliveWithoutCalls
    return keepalive?.check(now: loop.now, lastRead: lastRead, isIdle: isIdle)
  }

  func streamDidClose() {
    if isRetired { closeIfIdle() } else { subchannel.connectionHasRoom() }
  }

  /// Accepts no more calls, and closes when the last one has ended.
  func retire(_ reason: GRPCStatus? = nil) {
    guard !isRetired else { return }
    isRetired = true
    subchannel.connectionWasRetired(self, reason)
    closeIfIdle()
  }

  private func closeIfIdle() {
    guard !isClosed, openStreams == 0 else { return }
    if let status = withClientSession({ $0.finishRequests() }) ?? nil { return close(status, gently: true) }
    setNeedsFlush()
  }
}

extension GoAway {
  var status: GRPCStatus {
    let words = reason.isEmpty ? "" : ": \(reason)"
    return GRPCStatus(
      code: .unavailable,
      message: "the server ended the connection with HTTP/2 error \(code)\(words)",
      origin: .peer
    )
  }
}

extension GRPCStatus {
  fileprivate static func isAnother(than host: String) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "the certificate of the server does not name \(host), which the call would have as :authority",
      origin: .library
    )
  }

  static let serverEnded = GRPCStatus(
    code: .unavailable,
    message:
      "the connection was closed before its calls had ended: the server had announced its end (GOAWAY)",
    origin: .peer
  )
  static let neverSpokeHTTP2 = GRPCStatus(
    code: .unavailable,
    message: "the server closed the connection before it spoke HTTP/2: it may require TLS",
    origin: .peer
  )
}
