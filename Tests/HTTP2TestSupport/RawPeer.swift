import Glibc
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport

/// A blocking socket that sends the bytes that a test specifies.
package final class RawPeer: Sendable {
  private let descriptor: Int32

  package convenience init(port: Int) throws { self.init(adopting: try LoopbackSocket.connected(to: port)) }

  package convenience init(_ address: SocketAddress) throws { try self.init(port: address.port) }

  /// Takes ownership of a connected socket.
  package init(adopting descriptor: Int32) {
    self.descriptor = descriptor
    // Bytes are sent at once, even if there are few.
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    // A child process that another test starts meanwhile must not keep the connection open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    // Ends a test whose other side never answers; a slow machine must not.
    Self.limitWaits(on: descriptor, to: 240)
  }

  /// Limits how long it waits for bytes, in seconds.
  package func limitWaits(to seconds: Int) { Self.limitWaits(on: descriptor, to: seconds) }

  static func limitWaits(on descriptor: Int32, to seconds: Int) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Makes the end of this object reset the connection, instead of closing it.
  package func resetsAtEnd() {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
  }

  /// Ends this side; the other one may still send.
  package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Returns `false` once the other side accepts no more.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    MayBlock.check()
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Up to `count` bytes; fewer only at the end or after a timeout.
  package func read(_ count: Int) -> [UInt8] {
    MayBlock.check()
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: count)
    while bytes.count < count {
      let got = recv(descriptor, &piece, count - bytes.count, 0)
      guard got > 0 else { break }
      bytes += piece.prefix(got)
    }
    return bytes
  }

  /// The available bytes, at least one; none at the end or after a timeout.
  package func readSome() -> [UInt8] {
    MayBlock.check()
    var piece = [UInt8](repeating: 0, count: 65536)
    let got = recv(descriptor, &piece, piece.count, 0)
    return Array(piece.prefix(max(0, got)))
  }

  package func waitForBytes() { _ = read(1) }

  /// Whether the other side closed the connection before a timeout.
  package func readToEnd() -> Bool {
    MayBlock.check()
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let got = recv(descriptor, &piece, piece.count, 0)
      if got == 0 { return true }
      if got < 0 { return errno == ECONNRESET }
    }
  }
}
