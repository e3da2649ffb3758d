// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The system calls of a listener.
enum ListeningSocket {
  /// With `sharesPort`, several sockets may listen on the address, and the system distributes connections over them.
  static func open(_ address: SocketAddress, sharesPort: Bool = false) throws(SocketError) -> Int32 {
    let family = address.withSockaddr { sockaddr, _ in Int32(sockaddr.pointee.sa_family) }
    let descriptor = switchboard_stream_socket(family)
    guard descriptor >= 0 else { throw SocketError(errno: errno) }
    if case .unix(let path) = address.kind { removeStaleSocket(path, address) }
    _ = switchboard_set_nonblocking(descriptor)
    configure(descriptor, family)
    if sharesPort, !sharePort(descriptor) {
      close(descriptor)
      throw .cannotSharePort
    }
    let result = address.withSockaddr { sockaddr, length in Glibc.bind(descriptor, sockaddr, length) }
    guard result == 0, listen(descriptor, 4096) == 0 else {
      let error = SocketError(errno: errno)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func configure(_ descriptor: Int32, _ family: Int32) {
    guard family != AF_UNIX else { return }
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    // "::" then excludes IPv4, so that "::" and "0.0.0.0" can be bound at the same time.
    if family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
  }

  /// Returns `false` if the system does not support it. Systems other than Linux have the option, but do not distribute
  /// connections.
  static func sharePort(_ descriptor: Int32) -> Bool {
    #if os(Linux)
      return set(descriptor, SOL_SOCKET, SO_REUSEPORT)
    #else
      return false
    #endif
  }

  @discardableResult
  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) -> Bool {
    var on: Int32 = 1
    return setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// How a socket asks for a connection, as `connect` of the system does.
  typealias Connecting = (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32

  /// The file of a Unix socket remains when a server is killed. If it refuses connections, no server uses it.
  ///
  /// Who asks first is a socket of datagrams. It is refused like any other where nobody has the file, and as one of the wrong
  /// type where a server has: no connection is made, which that server would have to accept, and would report as one that failed.
  /// Some kernels, such as gVisor, refuse it like any other in both cases. So a stream has to be refused, too, which does not wait
  /// if the server's backlog is full.
  static func removeStaleSocket(
    _ path: String,
    _ address: SocketAddress,
    _ connecting: Connecting = { connect($0, $1, $2) }
  ) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    let isRefused = [switchboard_datagram_socket, switchboard_stream_socket].allSatisfy { make in
      let probe = make(AF_UNIX)
      guard probe >= 0 else { return false }
      defer { close(probe) }
      _ = switchboard_set_nonblocking(probe)
      let result = address.withSockaddr { sockaddr, length in connecting(probe, sockaddr, length) }
      return result != 0 && errno == ECONNREFUSED
    }
    if isRefused { unlink(path) }
  }

  /// Whether there is a file at the path that is no socket.
  static func isOtherFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
  }

  static func name(of descriptor: Int32) -> SocketAddress? { address(of: descriptor, getsockname) }

  static func peer(of descriptor: Int32) -> SocketAddress? { address(of: descriptor, getpeername) }

  private static func address(
    of descriptor: Int32,
    _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(descriptor, $0, &length) }
    }
    return result == 0 ? address(in: storage, length) : nil
  }

  static func address(in storage: sockaddr_storage, _ length: socklen_t) -> SocketAddress? {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress($0, count: Int(length)) }
    }
  }
}

extension SocketError {
  package static let cannotSharePort = SocketError(errno: ENOPROTOOPT)
}

extension SocketAddress {
  /// The path of a Unix socket, if a file is there that is none.
  package var pathOfOtherFile: String? {
    guard case .unix(let path) = kind, ListeningSocket.isOtherFile(path) else { return nil }
    return path
  }
}
