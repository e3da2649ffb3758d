import SwitchboardCall

/// This side of a conversation with a proxy, up to the tunnel: bytes in, bytes out, and no socket.
protocol ProxyDialogue {
  /// What is sent before anything has arrived.
  var opening: [UInt8] { get }

  /// Continues with bytes that arrived, and removes those that it read, which are all unless something has to happen
  /// first. Not called again once it has returned `open` or `failed`.
  mutating func receive(_ bytes: inout ArraySlice<UInt8>) -> ProxyStep
}

enum ProxyStep: Equatable {
  /// More has to arrive.
  case wait
  /// This has to be sent, before any bytes that are left are read.
  case send([UInt8])
  /// The proxy has connected. Bytes that are left are the first from the other end of the tunnel.
  case open
  case failed(ProxyFailure)
}

/// Why there is no tunnel.
enum ProxyFailure: Error, Equatable {
  /// The proxy refuses: its status, for people.
  case refused(String)
  /// The proxy says something that its protocol does not have.
  case nonsense
  /// The answer has more bytes than are read.
  case tooLong(limit: Int)
  /// The connection to the proxy ended before the tunnel was open.
  case ended(SocketError?)
  /// There is no answer within the time that an attempt to connect has.
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
