import SwitchboardBalancing
import SwitchboardCall

/// The channels to which interceptors have redirected calls.
struct ChannelSiblings: Sendable {
  /// The maximum number of siblings. When it is exceeded, the one that was used least recently finishes its calls and
  /// closes.
  private static let limit = 16

  private var channels: [(host: String, channel: HTTP2ClientTransport)] = []
  private(set) var areClosed = false

  mutating func take(_ host: String) -> HTTP2ClientTransport? {
    guard let index = channels.firstIndex(where: { $0.host == host }) else { return nil }
    let found = channels.remove(at: index)
    channels.append(found)
    return found.channel
  }

  /// Returns the sibling that has no place, if any; once they are closed, that is the new one.
  mutating func add(_ channel: HTTP2ClientTransport) -> HTTP2ClientTransport? {
    guard !areClosed else { return channel }
    channels.append((channel.host, channel))
    return channels.count > Self.limit ? channels.removeFirst().channel : nil
  }

  /// Returns all, to be closed by the caller.
  mutating func close() -> [HTTP2ClientTransport] {
    areClosed = true
    defer { channels = [] }
    return channels.map(\.channel)
  }
}

extension HTTP2ClientTransport {
  /// A channel to another target, with the same options and on the same loop. It closes with this one at the latest.
  /// Throws if the target is invalid or this channel was shut down.
  package func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport {
    if host == self.host { return self }
    let (areClosed, known) = siblings.withLock { ($0.areClosed, $0.take(host)) }
    if areClosed { throw .channelShutDown }
    if let known { return known }
    var options = options
    // What was secret on the way to one server is not sent to another in plaintext.
    if destination.tls != nil, options.security == .automatic { options.security = .tls() }
    let channel = try HTTP2ClientTransport(
      target: host,
      options: options,
      group: group,
      loop: loop,
      proxies: destination.proxies
    )
    siblings.withLock { $0.add(channel) }?.retire()
    return channel
  }

  /// A connection of the channel, as observers see it.
  func observed(isSecure: Bool) -> ObservedConnection {
    var observed = ObservedConnection(peer: host, isSecure: isSecure, isServer: false)
    observed.labels[MetricLabel.target] = destination.target.canonical
    return observed
  }

  /// The target with its scheme, for observers, of a channel without resolvers of its own.
  static func observedTarget(_ text: String) -> String { target(text)?.canonical ?? text }

  /// Whether `ChannelSecurity.automatic` may mean plaintext for such a channel.
  static func isOnThisMachine(_ text: String) -> Bool { target(text)?.isOnThisMachine ?? false }

  private static func target(_ text: String) -> Target? {
    let schemes = Set(AddressResolver().schemes).union(["dns"])
    return try? Target(text, schemes: schemes, fallback: "dns")
  }
}

extension GRPCStatus {
  static let foreignSubchannel = GRPCStatus(
    code: .internalError,
    message: "the load balancing policy chose a subchannel that its host did not make",
    origin: .library
  )
}
