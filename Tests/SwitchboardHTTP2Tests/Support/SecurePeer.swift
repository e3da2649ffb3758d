import HTTP2TestSupport
import SwitchboardCall
import SwitchboardHTTP2
import TLSSupport
import Testing

/// A TLS peer scripted byte by byte, below and above the record layer.
final class SecurePeer {
  let raw: RawPeer
  let tls: TLSPeer

  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// A record of application data that no key can decrypt.
  static let brokenRecord: [UInt8] = [0x17, 3, 3, 0, 0x20] + (0..<32).map { $0 &* 37 &+ 11 }

  init(_ raw: RawPeer, _ tls: TLSPeer) {
    self.raw = raw
    self.tls = tls
  }

  convenience init(_ address: SocketAddress, _ version: TLSVersion = .tls13) throws {
    self.init(try RawPeer(address), try TLSPeer(.client, version: version))
    try shakeHands()
  }

  func shakeHands() throws {
    tls.shakeHands()
    flush()
    while !tls.isSecure {
      let bytes = raw.readSome()
      try #require(!bytes.isEmpty, "the handshake ends early")
      tls.take(bytes)
      flush()
    }
  }

  /// Sends pending output, and `more` in the same piece.
  @discardableResult
  func flush(_ more: [UInt8] = []) -> Bool { raw.send(tls.takeOutput() + more) }

  func say(_ bytes: [UInt8]) {
    tls.write(bytes)
    flush()
  }

  /// The data from the other end, up to its end or until a condition on all of it holds.
  func listen(until isEnough: ([UInt8]) -> Bool = { _ in false }) -> [UInt8] {
    var said: [UInt8] = []
    while !isEnough(said) {
      let bytes = raw.readSome()
      guard !bytes.isEmpty else { break }
      tls.take(bytes)
      said += tls.read()
    }
    return said
  }
}
