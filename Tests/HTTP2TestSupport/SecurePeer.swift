import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TLSSupport

/// A TLS peer scripted byte by byte, below and above the record layer.
package final class SecurePeer {
  package let raw: RawPeer
  package let tls: TLSPeer

  package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// A record of application data that no key can decrypt.
  package static let brokenRecord: [UInt8] = [0x17, 3, 3, 0, 0x20] + (0..<32).map { $0 &* 37 &+ 11 }

  package init(_ raw: RawPeer, _ tls: TLSPeer) {
    self.raw = raw
    self.tls = tls
  }

  package convenience init(_ address: SocketAddress, _ version: TLSVersion = .tls13) throws {
    try self.init(port: address.port, version)
  }

  package convenience init(port: Int, _ version: TLSVersion = .tls13) throws {
    self.init(try RawPeer(port: port), try TLSPeer(.client, version: version))
    try shakeHands()
  }

  /// The server's side of a connection, after the handshake and both prefaces.
  package convenience init(serving raw: RawPeer, _ version: TLSVersion = .tls13) throws {
    self.init(raw, try TLSPeer(.server, version: version))
    tls.take(raw.readSome())
    flush()
    try listenToHandshake()
    say(FramePeer.frame(FramePeer.Kind.settings, 0, 0, []))
  }

  package func shakeHands() throws {
    tls.shakeHands()
    flush()
    try listenToHandshake()
  }

  private func listenToHandshake() throws {
    while !tls.isSecure {
      let bytes = raw.readSome()
      guard !bytes.isEmpty else { throw TLSPeerError("the handshake ends early") }
      tls.take(bytes)
      flush()
    }
  }

  /// Sends pending output, and `more` in the same piece.
  @discardableResult
  package func flush(_ more: [UInt8] = []) -> Bool { raw.send(tls.takeOutput() + more) }

  package func say(_ bytes: [UInt8]) {
    tls.write(bytes)
    flush()
  }

  /// The data from the other end, up to its end or until a condition on all of it holds.
  package func listen(until isEnough: ([UInt8]) -> Bool = { _ in false }) -> [UInt8] {
    var said: [UInt8] = tls.read()
    while !isEnough(said) {
      let bytes = raw.readSome()
      guard !bytes.isEmpty else { break }
      tls.take(bytes)
      said += tls.read()
    }
    return said
  }

  /// Returns once the other side has read all that was sent; `false` if it is gone.
  package func settle() -> Bool {
    let mark: [UInt8] = Array("settled?".utf8)
    say(FramePeer.frame(FramePeer.Kind.ping, 0, 0, mark))
    let answer = FramePeer.frame(FramePeer.Kind.ping, 1, 0, mark)
    return listen { $0.contains(answer) }.contains(answer)
  }
}
