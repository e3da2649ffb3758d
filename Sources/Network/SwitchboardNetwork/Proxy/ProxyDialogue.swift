import SwitchboardCall

/// The client's side of the negotiation with a proxy, up to the tunnel. It transforms bytes and performs no I/O.
protocol ProxyDialogue {
  /// The bytes to send first.
  var opening: [UInt8] { get }

  /// Processes received bytes and removes those that it read: all of them, unless the result must be handled first. Not
  /// called again after it has returned `open` or `failed`.
  mutating func receive(_ bytes: inout ArraySlice<UInt8>) -> ProxyStep
}

enum ProxyStep: Equatable {
  /// More bytes are needed.
  case wait
  /// These bytes must be sent before the remaining bytes are read.
  case send([UInt8])
  /// The tunnel is open. Remaining bytes are the first from the server.
  case open
  case failed(ProxyFailure)
}

/// Why there is no tunnel.
enum ProxyFailure: Error, Equatable {
  /// The proxy refused; the value is its status, for messages.
  case refused(String)
  /// The proxy's answer does not conform to the protocol.
  case nonsense
  /// The answer exceeds the size limit.
  case tooLong(limit: Int)
  /// The connection to the proxy ended before the tunnel was open.
  case ended(SocketError?)
  /// The proxy did not answer within the time limit of the attempt.
  case silent

  func status(of proxy: ProxyServer) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "\(proxy.shown) \(words(proxy))",
      origin: self == .silent ? .library : .peer
    )
  }

  private func words(_ proxy: ProxyServer) -> String {
    switch self {
    case .refused(let status): "refused: \(status)"
    case .nonsense: "does not speak \(proxy.language.rawValue)"
    case .tooLong(let limit): "answered with more than \(limit) bytes"
    case .ended(nil): "closed the connection before it connected"
    case .ended(let error?): "broke the connection before it connected: \(error)"
    case .silent: "did not answer in time"
    }
  }
}
