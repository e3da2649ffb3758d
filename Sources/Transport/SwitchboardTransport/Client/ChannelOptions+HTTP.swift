import SwitchboardCall
import SwitchboardText

extension ChannelOptions {
  /// The logger for the events of connections. `quiet` switches it off.
  public var logger: Logger {
    get { chosenLogger ?? .standardError }
    set { chosenLogger = newValue }
  }

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

  /// The value of `:authority`. Throws `INVALID_ARGUMENT` if HTTP does not allow that of the option. In the name of the
  /// server, which a resolver may take from a path, gRPC escapes what HTTP does not allow.
  func makeAuthority(_ serverName: String) throws(GRPCStatus) -> [UInt8] {
    guard let authority else {
      return PercentEncoding.encode(serverName.utf8) {
        $0 < 0x80 && FieldSyntax.isHost(String(UnicodeScalar($0)))
      }
    }
    guard !authority.utf8.isEmpty else {
      throw .invalidOption(
        "ChannelOptions.authority is empty: leave it out, or name a host, such as shop.example:443"
      )
    }
    guard FieldSyntax.isHost(authority) else {
      throw .invalidOption("the authority has characters that HTTP does not allow in a host")
    }
    return Array(authority.utf8)
  }
}
