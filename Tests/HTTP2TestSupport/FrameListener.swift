import Glibc
import TestSupport

/// A server that accepts one connection at a time and sends the bytes that a test specifies.
package final class FrameListener {
  private let descriptor: Int32
  package let port: Int

  package init() throws { (descriptor, port) = try LoopbackSocket.listening() }

  deinit { close(descriptor) }

  /// The target for a channel.
  package var target: String { "127.0.0.1:\(port)" }

  package func accept() -> FramePeer { FramePeer(serving: acceptRaw()) }

  package func acceptRaw() -> RawPeer {
    MayBlock.check()
    return RawPeer(adopting: Glibc.accept(descriptor, nil, nil))
  }
}
