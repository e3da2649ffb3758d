import SwitchboardCall

extension ChannelOptions {
  /// The versions of HTTP that are offered to servers by ALPN, preferred ones first.
  var httpVersions: [String] {
    switch httpVersion {
    case .http1: ["http/1.1"]
    case .negotiated: wireProtocol == .grpc ? ["h2"] : ["h2", "http/1.1"]
    }
  }

  /// How many connections a server may get.
  func connectionLimit(isHTTP1: Bool) -> Int { isHTTP1 ? maxHTTP1Connections : maxConnections }
}
