import SwitchboardBalancing
import SwitchboardCall

// Options that have no effect, or another one than they seem to have. Several channels may share options, of which only some
// have an effect on each, so the log says so, and the channel is made.
extension ChannelOptions {
  var remarks: [String] { keepaliveRemarks + protocolRemarks }

  private var keepaliveRemarks: [String] {
    let least = Self.shortestKeepaliveInterval
    if let keepaliveInterval {
      return keepaliveInterval < least
        ? [
          "keepaliveInterval is \(keepaliveInterval.readable): \(least.readable) is the least that gRPC allows, and is used"
        ]
        : []
    }
    var useless: [String] = []
    if keepaliveTimeout != Self.defaults.keepaliveTimeout { useless.append("keepaliveTimeout") }
    if keepaliveWithoutCalls { useless.append("keepaliveWithoutCalls") }
    return useless.map { "\($0) has no effect, because keepaliveInterval is not set: there are no pings" }
  }

  private var protocolRemarks: [String] {
    var remarks: [String] = []
    if connectGet, wireProtocol != .connect {
      remarks.append("connectGet has no effect: only calls with wireProtocol = .connect use HTTP GET")
    }
    if maxHTTP1Connections != Self.defaults.maxHTTP1Connections, wireProtocol == .grpc {
      remarks.append("maxHTTP1Connections has no effect, because gRPC needs HTTP/2")
    }
    return remarks
  }

  private static let defaults = ChannelOptions()
}

extension ChannelDestination {
  /// The options' resolvers that find nothing for this target. Channels may share them, so a target with another scheme is no
  /// mistake.
  func remarks(on resolvers: [any Resolver]) -> [String] {
    let fitting = resolvers.filter { $0.schemes.contains(target.scheme) }
    if fitting.count > 1 {
      return ["resolvers has \(fitting.count) for the scheme \(target.scheme), of which the first is used"]
    }
    if resolvers.contains(where: \.schemes.isEmpty) {
      return ["resolvers has one without schemes, which no target can choose"]
    }
    guard let scheme = resolvers.first?.schemes.first, fitting.isEmpty, !target.hasScheme,
      !target.isOnThisMachine, !target.isAddress
    else { return [] }
    return [
      "resolvers is not used: the target has no scheme, so that it is a name in the DNS; write \(scheme):///\(target.text)"
    ]
  }
}

extension Target {
  fileprivate var hasScheme: Bool { !endpoint.utf8.elementsEqual(text.utf8) }

  /// Whether there is nothing to resolve.
  fileprivate var isAddress: Bool {
    HostAndPort(endpoint).map { EndpointAddress(ip: $0.host, port: $0.port) != nil } ?? false
  }
}
