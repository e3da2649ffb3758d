// unsafe: state confined to the connection's loop

import SwitchboardCall

/// The protocol that a peer's first bytes belong to.
enum PeerProtocol {
  /// A TLS record with a handshake message or an alert.
  case tls
  /// A client's connection preface.
  case http2
  case http1
  /// The settings with which a server of HTTP/2 begins.
  case http2Settings
  case other

  init(firstBytes bytes: UnsafeRawBufferPointer) {
    if bytes[0] == 0x16 || bytes[0] == 0x15, bytes.count < 2 || bytes[1] == 3 {
      self = .tls
    } else if bytes.starts(with: "PRI".utf8) {
      self = .http2
    } else if ["GET ", "POST", "PUT ", "HEAD", "HTTP/1"].contains(where: { bytes.starts(with: $0.utf8) }) {
      self = .http1
    } else if bytes.count >= 9, bytes[3] == 4, bytes[4..<9].allSatisfy({ $0 == 0 }) {
      self = .http2Settings
    } else {
      self = .other
    }
  }
}

extension GRPCStatus {
  static let clientSpeaksTLS = GRPCStatus(
    code: .unavailable,
    message: "TLS: the client speaks TLS, and this port does not (ServerOptions.tls is not set; "
      + "clients of such a port set ChannelOptions.security = .plaintext)",
    origin: .peer
  )
  static let clientSpeaksNoTLS = GRPCStatus(
    code: .unavailable,
    message: "TLS: the client does not speak TLS, which this port requires (ServerOptions.tls is set; "
      + "clients of such a port set ChannelOptions.security = .tls())",
    origin: .peer
  )
  /// The same status of a channel, which says why the channel uses TLS, or why it does not.
  func explained(by options: ChannelOptions, usesTLS: Bool) -> GRPCStatus {
    let choice =
      switch (options.security, usesTLS) {
      case (.automatic, true): ".automatic, which means TLS to a target that is not on this machine"
      case (.automatic, false): ".automatic, which means plaintext to a target on this machine"
      case (_, true): ".tls"
      case (_, false): ".plaintext"
      }
    let other = usesTLS ? ".plaintext" : ".tls()"
    let remark =
      switch options.securityPlace {
      case .options: "ChannelOptions.security is \(choice); for this server, set security = \(other)"
      case .bootstrap:
        "channel_creds of the xDS bootstrap are \(usesTLS ? "tls" : "insecure"), in code \(choice); for this "
          + "control plane, they are \(usesTLS ? "insecure" : "tls"), in code \(other)"
      }
    return GRPCStatus(code: code, message: "\(message ?? "\(code)") (\(remark))", origin: origin)
  }

  static let serverSpeaksTLS = GRPCStatus(
    code: .unavailable,
    message: "TLS: the server speaks TLS, and the channel does not",
    origin: .peer
  )
  static let serverSpeaksNoTLS = GRPCStatus(
    code: .unavailable,
    message: "TLS: the server does not speak TLS, which the channel requires",
    origin: .peer
  )
  static let clientSpeaksHTTP1 = GRPCStatus(
    code: .unavailable,
    message:
      "the client speaks HTTP/1, and this port only HTTP/2 (neither ServerOptions.web is set, which Connect "
      + "and gRPC-Web need, nor are pages; clients use HTTP/2 with ChannelOptions.httpVersion = .negotiated)",
    origin: .peer
  )
  static let serverSpeaksHTTP2 = GRPCStatus(
    code: .unavailable,
    message: "the server speaks HTTP/2, and the channel HTTP/1.1 (ChannelOptions.httpVersion is .http1; use "
      + ".negotiated, or set ServerOptions.web if it is a server of Switchboard: Connect and gRPC-Web need it in any "
      + "version)",
    origin: .peer
  )
  package static let peerSpeaksHTTP1 = GRPCStatus(
    code: .unavailable,
    message: "the peer speaks HTTP/1, not HTTP/2",
    origin: .peer
  )
  package static let peerSpeaksNoHTTP2 = GRPCStatus(
    code: .unavailable,
    message: "the peer does not speak HTTP/2",
    origin: .peer
  )
}
