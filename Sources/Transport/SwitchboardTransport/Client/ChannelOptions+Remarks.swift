import SwitchboardBalancing
import SwitchboardCall

// Options that have no effect, or another one than they seem to have. Several channels may share options, of which only some
// have an effect on each, so the log says so, and the channel is made.
extension ChannelOptions {
  var remarks: [OptionRemark] { keepaliveRemarks + protocolRemarks }

  private var keepaliveRemarks: [OptionRemark] {
    let least = Self.shortestKeepaliveInterval
    if let keepaliveInterval {
      guard keepaliveInterval < least else { return [] }
      let reason =
        "is \(keepaliveInterval.readable): \(least.readable) is the least that gRPC allows, and is used"
      return [OptionRemark("keepaliveInterval", reason)]
    }
    var useless: [String] = []
    if keepaliveTimeout != Self.defaults.keepaliveTimeout { useless.append("keepaliveTimeout") }
    if keepaliveWithoutCalls { useless.append("keepaliveWithoutCalls") }
    return useless.map {
      OptionRemark($0, "has no effect, because keepaliveInterval is not set: there are no pings")
    }
  }

  private var protocolRemarks: [OptionRemark] {
    var remarks: [OptionRemark] = []
    if connectGet, wireProtocol != .connect {
      let reason = "has no effect: only calls with wireProtocol = .connect use HTTP GET"
      remarks.append(OptionRemark("connectGet", reason))
    }
    if maxHTTP1Connections != Self.defaults.maxHTTP1Connections, wireProtocol == .grpc {
      remarks.append(OptionRemark("maxHTTP1Connections", "has no effect, because gRPC needs HTTP/2"))
    }
    return remarks
  }

  private static let defaults = ChannelOptions()
}

extension ChannelDestination {
  /// The options' resolvers that find nothing for this target. Channels may share them, so a target with another scheme is no
  /// mistake.
  func remarks(on resolvers: [any Resolver]) -> [OptionRemark] {
    mistake(in: resolvers).map { [OptionRemark("resolvers", $0)] } ?? []
  }

  private func mistake(in resolvers: [any Resolver]) -> String? {
    let fitting = resolvers.filter { $0.schemes.contains(target.scheme) }
    if fitting.count > 1 {
      return "has \(fitting.count) for the scheme \(target.scheme), of which the first is used"
    }
    if resolvers.contains(where: \.schemes.isEmpty) {
      return "has one without schemes, which no target can choose"
    }
    guard let scheme = resolvers.first?.schemes.first, fitting.isEmpty, !target.hasScheme,
      !target.isOnThisMachine, !target.isAddress
    else { return nil }
    return
      "is not used: the target has no scheme, so that it is a name in the DNS; write \(scheme):///\(target.text)"
  }
}

extension Target {
  fileprivate var hasScheme: Bool { !endpoint.utf8.elementsEqual(text.utf8) }

  /// Whether there is nothing to resolve.
  fileprivate var isAddress: Bool {
    HostAndPort(endpoint).map { EndpointAddress(ip: $0.host, port: $0.port) != nil } ?? false
  }
}
