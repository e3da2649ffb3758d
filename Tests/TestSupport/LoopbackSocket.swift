import Glibc

/// Blocking local sockets. Child processes do not inherit them.
public enum LoopbackSocket {
  /// A socket connected to a port.
  public static func connected(to port: Int) throws -> Int32 {
    try make { descriptor in
      var address = address(port)
      return with(&address) { connect(descriptor, $0, $1) } == 0
    }
  }

  /// A listening socket on a free port.
  public static func listening() throws -> (descriptor: Int32, port: Int) {
    var address = address(0)
    let descriptor = try make { descriptor in
      with(&address) { pointer, size in
        var length = size
        guard bind(descriptor, pointer, size) == 0, listen(descriptor, 128) == 0 else { return -1 }
        return getsockname(descriptor, pointer, &length)
      } == 0
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A socket, closed again if setting it up fails.
  private static func make(_ prepare: (Int32) -> Bool) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0, prepare(descriptor) else {
      let failure = SystemFailure()
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  private static func with(
    _ address: inout sockaddr_in,
    _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
