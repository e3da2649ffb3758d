import SwitchboardCall
import TestSupport
import Testing

/// The server of `Peers/authority_server.py`, which answers with the authority of a call.
final class AuthorityServer {
  enum Kind: String {
    case usual
    /// It has the authority in the status with which it fails.
    case failing = "--fails"
    /// One of Connect, over HTTP/1.1.
    case connect = "--connect"
  }

  let port: Int
  private let peer: PythonPeer

  init(_ kind: Kind = .usual, _ credentials: TLSCredentials? = nil) throws {
    let sources = credentials.map { [$0.certificateChain, $0.privateKey] } ?? []
    let files = try sources.map { source in
      guard case .bytes(let bytes) = source else { return "" }
      return try temporaryFile(bytes, suffix: "pem")
    }
    peer = try PythonPeer("authority_server.py", (kind == .usual ? [] : [kind.rawValue]) + files)
    port = try #require(peer.line().flatMap { Int($0) })
  }

  deinit { peer.stop() }
}
