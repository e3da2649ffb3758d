import SwitchboardCall

extension ChannelOptions {
  /// The versions of HTTP that are offered to servers by ALPN, preferred ones first.
  var httpVersions: [String] {
    switch httpVersion {
    case .http1: ["http/1.1"]
    case .negotiated: wireProtocol == .grpc ? ["h2"] : ["h2", "http/1.1"]
    }
  }

  /// The value of `user-agent`. Throws `INVALID_ARGUMENT` if HTTP does not allow it.
  func makeUserAgent() throws(GRPCStatus) -> [UInt8] {
    let prefix = userAgentPrefix.isEmpty ? "" : "\(userAgentPrefix) "
    let value = "\(prefix)grpc-swift-switchboard/0.1"
    guard FieldSyntax.fault(of: "user-agent", value) == nil else {
      throw .invalidOption("userAgentPrefix has characters that HTTP does not allow")
    }
    return Array(value.utf8)
  }

  /// The value of `:authority`: the option, or the name of the server. Throws `INVALID_ARGUMENT` if HTTP does not allow
  /// it.
  func makeAuthority(_ serverName: String) throws(GRPCStatus) -> [UInt8] {
    let value = authority ?? serverName
    guard FieldSyntax.isHost(value) else {
      throw .invalidOption("the authority has characters that HTTP does not allow in a host")
    }
    return Array(value.utf8)
  }

  /// How many connections a server may get.
  func connectionLimit(isHTTP1: Bool) -> Int { isHTTP1 ? maxHTTP1Connections : maxConnections }
}
