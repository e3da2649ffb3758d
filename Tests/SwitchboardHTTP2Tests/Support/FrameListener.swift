import Glibc
import TestSupport

@testable import SwitchboardHTTP2

/// A server that accepts one connection at a time and says what a test tells it to.
final class FrameListener {
  private let descriptor: Int32
  let address: SocketAddress

  init() throws {
    guard let anywhere = SocketAddress.numeric("127.0.0.1", port: 0) else { throw SocketError.noAddress }
    descriptor = try ListeningSocket.open(anywhere)
    address = ListeningSocket.name(of: descriptor) ?? anywhere
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
  }

  deinit { close(descriptor) }

  func accept() -> FramePeer { FramePeer(serving: acceptRaw()) }

  func acceptRaw() -> RawPeer {
    MayBlock.check()
    return RawPeer(adopting: Glibc.accept(descriptor, nil, nil))
  }
}
