import Glibc
import TestSupport

/// A server that accepts one connection at a time and sends the bytes that a test specifies.
package final class FrameListener {
  private let descriptor: Int32
  package let port: Int

  /// How long it waits for a connection, or for bytes of one.
  private let patience: Int?

  /// With `patience`, a test whose other side does nothing fails after this many seconds.
  package init(patience: Int? = nil) throws {
    self.patience = patience
    (descriptor, port) = try LoopbackSocket.listening()
    if let patience { RawPeer.limitWaits(on: descriptor, to: patience) }
  }

  deinit { close(descriptor) }

  /// The target for a channel.
  package var target: String { "127.0.0.1:\(port)" }

  package func accept() -> FramePeer { FramePeer(serving: acceptRaw()) }

  package func acceptRaw() -> RawPeer {
    MayBlock.check()
    let peer = RawPeer(adopting: Glibc.accept(descriptor, nil, nil))
    if let patience { peer.limitWaits(to: patience) }
    return peer
  }
}
