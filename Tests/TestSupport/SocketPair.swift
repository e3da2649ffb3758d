import Glibc

/// Two descriptors of which each reads what the other writes. Programs that are started meanwhile do not inherit them, as
/// they could inherit a pipe's.
public struct SocketPair: Sendable {
  public let near: Int32
  public let far: Int32

  public init() throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw SystemFailure()
    }
    (near, far) = (ends[0], ends[1])
  }
}
