import Glibc

/// Two connected descriptors. Unlike a pipe's, child processes never inherit them.
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
