import CLibuv
import Glibc

/// Two descriptors of which each reads what the other writes. Programs that are started meanwhile do not inherit them, as
/// they could inherit a pipe's.
struct SocketPair: Sendable {
  let near: Int32
  let far: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Program.CannotStart(description: "no sockets: errno \(errno)")
    }
    (near, far) = (ends[0], ends[1])
  }
}
